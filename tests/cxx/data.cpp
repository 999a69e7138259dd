/* data.cpp - data sets, loaders as ranges, training in C++. The order of batches and the losses are
 * those of the same calls in C. */
#include "told.h"

static tn::data::loader_options batches_of(int64_t n) {
    return tn::data::loader_options().set_batch_size(n);
}

static void a_range_is_an_epoch() {
    const tn::tensor x = tn::arange(10).reshape({10, 1}), y = x * 2;
    tn::data::loader loader(tn::data::tensors({x, y}), batches_of(4));
    for (int epoch = 0; epoch < 2; epoch++) {
        std::vector<int64_t> seen, sizes;
        for (auto &batch : loader) {
            CHECK(batch.fields() == 2 && batch.index() == static_cast<int64_t>(sizes.size()));
            CHECK(equal(batch[0] * 2, batch[1]) && !batch[2].defined());
            sizes.push_back(batch.size());
            for (int64_t v : batch[0].as<std::vector<int64_t>>()) seen.push_back(v);
        }
        CHECK(sizes == std::vector<int64_t>({4, 4, 2}));
        CHECK(seen == std::vector<int64_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    }
    CHECK(loader.batches() == 3 && loader.set().size() == 10);
    for (auto &batch : loader) /* an epoch that is left begins anew */
        if (batch.index() == 1) break;
    tn::data::batch first;
    for (auto &batch : loader) {
        first = batch;
        break;
    }
    CHECK(first.index() == 0 && first[0][0].item() == 0); /* it outlives the loop */
#if __cplusplus >= 202002L
    tn::data::loader dropping(tn::data::tensors({x}), {.batch_size = 4, .drop_last = true});
    CHECK(dropping.batches() == 2);
#endif
    CHECK(tn_ok());
}

/* The order of an epoch in C. */
static std::vector<int64_t> order_in_c(int workers) {
    std::vector<int64_t> seen;
    tn_loader_args a = tn_loader_args();
    a.batch_size = 3;
    a.shuffle = true;
    a.prefetch = 2;
    a.workers = workers;
    tn_tensor *x = tn_arange(20);
    a.dataset = tn_dataset_tensors(TN_LIST(x));
    tn_manual_seed(7);
    tn_loader *l = tn_loader_new_at(__FILE__, __LINE__, &a);
    tn_batch b;
    while (tn_loader_next(l, &b)) {
        for (int64_t i = 0; i < b.n; i++)
            seen.push_back(static_cast<const int64_t *>(tn_data(b.field[0]))[i]);
        tn_free(b.field[0]);
    }
    tn_loader_free(l);
    tn_free(x);
    return seen;
}
static void the_first_batch_outlives_its_iterator() {
    tn::data::loader loader(tn::data::tensors({tn::arange(6)}), batches_of(2));
    auto &&batch = *loader.begin();
    CHECK(batch[0].sum().item() == 1);
    const auto it = loader.begin();
    CHECK((*it)[0].sum().item() == 1 && tn_ok());
}
static void a_seed_shuffles_as_in_c() {
    const std::vector<int64_t> c = order_in_c(0);
    for (int workers = 0; workers < 3; workers++) {
        std::vector<int64_t> seen;
        tn_manual_seed(7);
        tn::data::loader loader(tn::data::tensors({tn::arange(20)}),
                                batches_of(3).set_shuffle(true).set_workers(workers));
        for (auto &batch : loader)
            for (int64_t v : batch[0].as<std::vector<int64_t>>()) seen.push_back(v);
        CHECK(seen == c && seen.size() == 20 && seen[0] + seen[1] + seen[2] != 3);
    }
    CHECK(tn_ok());
}

static int sets_alive;
struct squares : tn::data::source {
    int64_t bad;
    explicit squares(int64_t n, int64_t bad_item = -1)
        : source(n, {{TN_F32, {2}}, {TN_I64, {}}}), bad(bad_item) {
        sets_alive++;
    }
    ~squares() override { sets_alive--; }
    void get(int64_t i, const tn::data::item &to) const override {
#ifdef TN_EXCEPTIONS
        if (i == bad) throw std::out_of_range("item is bad");
#else
        if (i == bad) tn_error_set(TN_INVALID, nullptr, 0, "item is bad");
#endif
        to.data<float>(0)[0] = static_cast<float>(i);
        to.data<float>(0)[1] = static_cast<float>(i * i);
        to.data<int64_t>(1)[0] = i;
    }
};
struct mistaken : tn::data::source {
    int field;
    explicit mistaken(int which) : source(4, {{TN_F32, {1}}}), field(which) {}
    void get(int64_t, const tn::data::item &to) const override { to.data<double>(field); }
};

static void a_set_of_your_own() {
    for (int workers = 0; workers < 2; workers++) {
        tn::data::dataset set = tn::data::make<squares>(7);
        CHECK(set.size() == 7 && set.slice(2, 5).size() == 3);
        int64_t sum = 0, items = 0;
        tn::data::loader loader(set, batches_of(2).set_workers(workers));
        for (auto &batch : loader) {
            CHECK(batch[0].size(1) == 2 && batch[1].dim() == 1);
            sum += batch[0].sum().item<int64_t>();
            items += batch.size();
        }
        CHECK(sum == 21 + 91 && items == 7);
    }
    CHECK(sets_alive == 0);
    CHECK(tells(told_by([] { tn::data::make<squares>(7).slice(3, 9); }), "to <= 7"));
    CHECK(sets_alive == 0 && tn_ok());
}

static void an_item_that_fails_ends_the_range() {
    for (int workers = 0; workers < 2; workers++) {
        int n = 0;
        tn::data::loader loader(tn::data::make<squares>(7, 4), batches_of(2).set_workers(workers));
        const std::string message = told_by([&] {
            for (auto &batch : loader) n += batch.size() == 2;
        });
        CHECK(n == 2 && tells(message, "item is bad"));
        CHECK(tn_ok());
#ifdef TN_EXCEPTIONS
        bool caught = false; /* what was thrown, also if that was in a worker */
        try {
            for (auto &batch : loader) n -= batch.size() == 2;
        } catch (const std::out_of_range &) {
            caught = true;
        }
        CHECK(caught && n == 0);
#endif
    }
    for (int field = 0; field < 2; field++) {
        tn::data::loader loader(tn::data::make<mistaken>(field));
        CHECK(tells(told_by([&] {
                        for (auto &batch : loader) CHECK(!batch[0].defined());
                    }),
                    field ? "field 1 of 1" : "field 0 is float32, not float64"));
    }
    CHECK(tells(told_by([] { tn::data::loader none((tn::data::dataset())); }), "dataset is NULL"));
    CHECK(tells(told_by([] { tn::data::loader l(tn::data::make<squares>(2), batches_of(0)); }),
                "batch_size"));
    CHECK(sets_alive == 0);
}

/* --- training --------------------------------------------------------------------------------- */

struct problem {
    tn::nn::sequential net;
    tn::optim::sgd opt;
    tn::data::loader loader;
    problem() : net(made()), opt(net.parameters(), 0.1), loader(set(), options()) {}
    static tn::nn::sequential made() {
        tn_manual_seed(5);
        return tn::nn::sequential{tn::nn::linear(4, 8), tn::nn::relu(), tn::nn::linear(8, 3)};
    }
    static tn::data::dataset set() {
        const tn::tensor x = tn::randn({24, 4});
        return tn::data::tensors({x, x.argmax(1) % 3});
    }
    static tn::data::loader_options options() { return batches_of(8).set_shuffle(true); }
};
static bool keep(const tn_progress *p, void *user) {
    if (p->event == TN_EVENT_EPOCH_END)
        static_cast<std::vector<double> *>(user)->push_back(p->loss);
    return true;
}

static void training_gives_the_losses_of_c_and_of_a_loop() {
    std::vector<double> c, cxx, own;
    {
        problem p;
        tn_train_args a = tn_train_args();
        a.epochs = 3;
        a.on = &keep;
        a.user = &c;
        a.model = p.net.get();
        a.optimizer = p.opt.get();
        a.loader = p.loader.get();
        CHECK(tn_train_at(__FILE__, __LINE__, &a));
    }
    {
        problem p;
        CHECK(tn::train(p.net, p.opt, p.loader, tn::train_options().set_epochs(3),
                        [&cxx](const tn_progress &at) {
                            if (at.event == TN_EVENT_EPOCH_END) cxx.push_back(at.loss);
                        }));
    }
    {
        problem p;
        tn::nn::cross_entropy_loss loss;
        CHECK(tn::train(
            p.net, p.opt, p.loader, tn::train_options().set_epochs(3),
            [&own](const tn_progress &at) {
                if (at.event == TN_EVENT_EPOCH_END) own.push_back(at.loss);
                return true;
            },
            [&loss](const tn::nn::module &m, const tn::data::batch &b) {
                return loss(m(b[0]), b[1]);
            }));
    }
    CHECK(c.size() == 3 && c[2] < c[0] && cxx == c && own == c);
    tn::tensor trained;
    {
        problem p;
        CHECK(tn::train(p.net, p.opt, p.loader));
        trained = p.net.part("0.weight");
    }
    problem q;
    tn::nn::cross_entropy_loss loss;
    for (auto &batch : q.loader) {
        q.opt.zero_grad();
        loss(q.net(batch[0]), batch[1]).backward();
        q.opt.step();
    }
    CHECK(equal(trained, q.net.part("0.weight")));
    CHECK(tn_ok());
}

static void training_stops_evaluates_and_fails() {
    problem p;
    int events = 0;
    CHECK(tn::train(p.net, p.opt, p.loader, tn::train_options().set_epochs(100),
                    [&events](const tn_progress &) { return ++events < 5; }));
    CHECK(events == 5);
    tn::nn::cross_entropy_loss loss;
    const tn::evaluation e = tn::evaluate(p.net, loss, p.loader);
    CHECK(e.loss > 0 && e.loss < 2 && e.accuracy >= 0 && e.accuracy <= 1 && p.net.is_training());
    CHECK(tells(told_by([&] { tn::evaluate(tn::nn::linear(9, 3), loss, p.loader); }), "Linear"));
    CHECK(
        tells(told_by([&] {
                  tn::train(
                      p.net, p.opt, p.loader, tn::train_options(), [](const tn_progress &) {},
                      [](const tn::nn::module &, const tn::data::batch &) { return tn::tensor(); });
              }),
              "the loss is undefined"));
#ifdef TN_EXCEPTIONS
    bool caught = false;
    try {
        tn::train(p.net, p.opt, p.loader, tn::train_options(),
                  [](const tn_progress &) { throw std::runtime_error("mine"); });
    } catch (const std::runtime_error &error) {
        caught = !strcmp(error.what(), "mine");
    }
    CHECK(caught && tn_ok());
#endif
}

static void a_checkpoint_resumes() {
    const char *path = "build/cxx_data.safetensors";
    problem p, q;
    tn::optim::step_lr steps(p.opt, 1, 0.5), others(q.opt, 1, 0.5);
    CHECK(tn::train(p.net, p.opt, p.loader, tn::train_options().set_schedule(&steps)));
    CHECK(tn::checkpoint().set_model(p.net).set_optimizer(&p.opt).set_schedule(&steps).save(path));
    CHECK(tn::checkpoint().set_model(q.net).set_optimizer(&q.opt).set_schedule(&others).load(path));
    remove(path);
    CHECK(equal(p.net.part("0.weight"), q.net.part("0.weight")));
    CHECK(q.opt.lr() == 0.05 && others.count() == 1);
    tn_named_number scale[] = {{"mean", 12.5}, {"deviation", 3}};
    CHECK(tn::checkpoint().set_model(p.net).set_numbers(scale).save(path));
    scale[0].value = scale[1].value = 0;
    CHECK(tn::checkpoint().set_model(q.net).set_numbers(scale).load(path));
    CHECK(scale[0].value == 12.5 && scale[1].value == 3);
    CHECK(tn::save(path, {{"x", tn::ones(2)}, {"y", tn::zeros(3)}}));
    CHECK(tn::load(path, "y").numel() == 3 && tn::load(path, "x").sum().item() == 2);
    CHECK(tells(told_by([&] { tn::save(path, {{"x", tn::ones(2)}, {"x", tn::ones(2)}}); }), "x"));
    CHECK(tells(told_by([&] { tn::load(path, "z"); }), "z"));
    remove(path);
    CHECK(tells(told_by([&] { tn::checkpoint().set_model(p.net).load("build/no such file"); }),
                "no such file"));
    CHECK(tn_ok());
}

static void training_has_steps_of_several_batches_a_best_epoch_and_a_log() {
    const char *csv = "build/cxx_run.csv", *best = "build/cxx_best.safetensors";
    problem p;
    tn::scaler scaler;
    int64_t steps = 0, epochs = 0, best_epoch = -1;
    {
        tn::train_log log(tn::train_log_options().set_csv(csv));
        const tn::train_options o = tn::train_options()
                                        .set_epochs(4)
                                        .set_accumulate(2)
                                        .set_autocast(TN_F16)
                                        .set_scaler(&scaler)
                                        .set_best(best)
                                        .set_patience(2)
                                        .set_watch(TN_WATCH_ACCURACY)
                                        .set_min_delta(0.5);
        CHECK(tn::train(p.net, p.opt, p.loader, o, [&](const tn_progress &at) {
            steps = at.steps;
            epochs += at.event == TN_EVENT_EPOCH_END;
            best_epoch = at.best_epoch;
            return log(at);
        }));
    }
    CHECK(steps == 2 && best_epoch == 0 && scaler.count() > 0);
    CHECK(epochs == 3);
    problem q;
    CHECK(tn::checkpoint().set_model(q.net).load(best));
    CHECK(!equal(p.net.part("0.weight"), q.net.part("0.weight")));
    char *table = check_file(csv);
    CHECK(table && strstr(table, "\n3,") && !strstr(table, "\n4,"));
    free(table);
    remove(csv);
    remove(best);
    CHECK(tells(
        told_by([&] { tn::train(p.net, p.opt, p.loader, tn::train_options().set_accumulate(-1)); }),
        "accumulate"));
    CHECK(tn_ok());
}

static const check_test tests[] = {
    CHECK_TEST(a_range_is_an_epoch),
    CHECK_TEST(the_first_batch_outlives_its_iterator),
    CHECK_TEST(a_seed_shuffles_as_in_c),
    CHECK_TEST(a_set_of_your_own),
    CHECK_TEST(an_item_that_fails_ends_the_range),
    CHECK_TEST(training_gives_the_losses_of_c_and_of_a_loop),
    CHECK_TEST(training_stops_evaluates_and_fails),
    CHECK_TEST(a_checkpoint_resumes),
    CHECK_TEST(training_has_steps_of_several_batches_a_best_epoch_and_a_log),
};

int main(int argc, char **argv) {
    const int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(nullptr);
    return failed;
}
