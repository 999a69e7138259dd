/* cxx_data.h - C++ only: data sets, loaders as ranges, training.
 *
 *     tn::data::loader loader(tn::data::tensors({x, y}), {.batch_size = 64, .shuffle = true});
 *     for (auto &batch : loader) loss(net(batch[0]), batch[1]).backward();
 *     tn::train(net, opt, loader, {.epochs = 5});
 * (C++20; before: tn::train_options().set_epochs(5))
 *
 * Each `for` is an epoch. It ends early if a batch cannot be read: with TN_EXCEPTIONS it throws,
 * else ask tn_ok() after it. One thread at a time may use a loader. */
#ifndef TNI_API_CXX_DATA_H
#define TNI_API_CXX_DATA_H

#include "ops/overloads_nn.h"

#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)
TNI_TN_BEGIN
namespace data {

/* --- data sets -------------------------------------------------------------------------------- */

/* One owner of a tn_dataset; copies share it. */
class dataset {
  protected:
    tn_dataset *p_;

  public:
    dataset() noexcept : p_(nullptr) {}
    explicit dataset(tn_dataset *d) : p_(d ? tn_dataset_hold(d) : nullptr) {}
    static dataset take(tn_dataset *fresh) {
        dataset d;
        d.p_ = fresh;
        if (!fresh) detail::check();
        return d;
    }
    dataset(const dataset &o) : p_(o.p_ ? tn_dataset_hold(o.p_) : nullptr) {}
    dataset(dataset &&o) noexcept : p_(o.p_) { o.p_ = nullptr; }
    dataset &operator=(dataset o) noexcept {
        tn_dataset *d = p_;
        p_ = o.p_;
        o.p_ = d;
        return *this;
    }
    ~dataset() { tn_dataset_free(p_); }
    tn_dataset *get() const noexcept { return p_; }
    tn_dataset *release() noexcept {
        tn_dataset *d = p_;
        p_ = nullptr;
        return d;
    }
    bool defined() const noexcept { return p_ != nullptr; }
    int64_t size() const noexcept { return p_ ? p_->size : 0; }
    /* Items from..to-1. */
    dataset slice(int64_t from, int64_t to, site at = site::here()) const {
        return take(tn_dataset_slice_at(at.file, at.line, dataset(*this).release(), from, to));
    }
};

/* Item i is row i of each tensor. */
inline dataset tensors(tensor_list l, site at = site::here()) {
    return dataset::take(tn_dataset_tensors_at(at.file, at.line, l.value));
}
/* Pictures u8 and labels, as float32 (v / 255 - mean) / std and int64; see data.h. */
inline dataset images(tensor_ref pictures, tensor_ref labels, double mean = 0, double std = 1,
                      site at = site::here()) {
    return dataset::take(
        tn_dataset_images_at(at.file, at.line, pictures.value, labels.value, mean, std));
}
inline dataset idx(const char *images_path, const char *labels_path, double mean = 0,
                   double std = 1, site at = site::here()) {
    return dataset::take(tn_dataset_idx_at(at.file, at.line, images_path, labels_path, mean, std));
}

/* --- data sets of your own -------------------------------------------------------------------- */

/* One field of an item: dtype and sizes. */
struct field {
    tn_dtype dtype;
    int_list sizes;
};

/* Where an item is to be written. */
class item {
    const tn_dataset *set_;
    void *const *to_;

  public:
    item(const tn_dataset *set, void *const *to) : set_(set), to_(to) {}
    /* The elements of a field, row-major; NULL with TYPE if they are not of type T, and with
     * INVALID if there is no such field. */
    template <class T>
    T *data(int field) const {
        if (field < 0 || field >= set_->nfields) {
            if (!tn_error_set(TN_INVALID, nullptr, 0, "item: field %d of %d", field, set_->nfields))
                detail::check();
            return nullptr;
        }
        if (set_->field[field].dtype != detail::element<T>::dtype()) {
            if (!tn_error_set(TN_TYPE, nullptr, 0, "item: field %d is %s, not %s", field,
                              tn_dtype_name(set_->field[field].dtype),
                              tn_dtype_name(detail::element<T>::dtype())))
                detail::check();
            return nullptr;
        }
        return static_cast<T *>(to_[field]);
    }
};

/* Your own set. Several threads call get at the same time.
 *
 *     struct squares : tn::data::source {
 *         squares() : source(100, {{TN_F32, {1}}, {TN_F32, {1}}}) {}
 *         void get(int64_t i, const tn::data::item &to) const override {
 *             to.data<float>(0)[0] = (float)i;
 *             to.data<float>(1)[0] = (float)(i * i);
 *         }
 *     };
 *     tn::data::loader loader(tn::data::make<squares>(), {.batch_size = 10}); */
class source {
    tn_dataset like_;
    site at_;

    struct get_call {
        const source *object;
        int64_t index;
        item to;
        void operator()() { object->get(index, to); }
    };
    static bool run_get(const tn_dataset *d, int64_t index, void *const *to) {
        get_call run = {static_cast<const source *>(d->user), index, item(d, to)};
        return detail::call(run) && tn_ok();
    }
    static void run_destroy(tn_dataset *d) { delete static_cast<source *>(d->user); }
    template <class T, class... A>
    friend dataset make(A &&...args);

  protected:
    /* fields: dtype and sizes of each, none for a number. */
    source(int64_t size, std::initializer_list<field> fields, site at = site::here())
        : like_(), at_(at) {
        like_.size = size;
        like_.get = &run_get;
        like_.destroy = &run_destroy;
        like_.nfields = static_cast<int>(fields.size());
        for (size_t i = 0; i < fields.size() && i < TN_MAX_FIELDS; i++) {
            const field &f = fields.begin()[i];
            like_.field[i].dtype = f.dtype;
            like_.field[i].ndim = static_cast<int>(f.sizes.value.n > 0 ? f.sizes.value.n : 0);
            for (int64_t d = 0; d < f.sizes.value.n && d < TN_MAX_DIMS; d++)
                like_.field[i].size[d] = f.sizes.value.at[d];
        }
    }

  public:
    source(const source &) = delete;
    source &operator=(const source &) = delete;
    virtual ~source() {}
    /* Writes item `index` to all fields. An error, or an exception, ends the epoch. */
    virtual void get(int64_t index, const item &to) const = 0;
    int64_t size() const { return like_.size; }
};
/* A data set that owns a new object of T. */
template <class T, class... A>
inline dataset make(A &&...args) {
    source *object = new (std::nothrow) T(static_cast<A &&>(args)...);
    if (!object) {
        tn_error_set(TN_MEMORY, nullptr, 0, "out of memory for a data set");
        return dataset::take(nullptr);
    }
    object->like_.user = object;
    return dataset::take(tn_dataset_new_at(object->at_.file, object->at_.line, &object->like_));
}

/* --- the loader ------------------------------------------------------------------------------- */

struct loader_options {
    typedef loader_options self_;
    TNI_OPTION(integer, batch_size, 1)
    TNI_OPTION(flag, shuffle, false)
    TNI_OPTION(flag, drop_last, false)
    TNI_OPTION(int32_t, workers, 0)  /* threads that read ahead */
    TNI_OPTION(int32_t, prefetch, 2) /* batches that each of them reads ahead */
    TNI_OPTION(tn_generator *, generator, nullptr)
};

/* The tensors of a batch, of shape (items, sizes of the field). */
class batch {
    tensor field_[TN_MAX_FIELDS];
    tn_batch c_;

  public:
    batch() : c_() {}
    explicit batch(const tn_batch &b) : c_(b) { /* one more owner of the tensors */
        for (int i = 0; i < b.nfields; i++) field_[i] = tensor(b.field[i]);
    }
    static batch take(const tn_batch &fresh) {
        batch b;
        b.c_ = fresh;
        for (int i = 0; i < fresh.nfields; i++) b.field_[i] = tensor::take(fresh.field[i]);
        return b;
    }
    /* Undefined if there is no such field. */
    const tensor &operator[](int i) const {
        static const tensor none;
        return i >= 0 && i < c_.nfields ? field_[i] : none;
    }
    int fields() const { return c_.nfields; }
    int64_t size() const { return c_.n; }      /* items */
    int64_t index() const { return c_.index; } /* of the batch in the epoch */
};

class loader {
    tn_loader *p_;
    site at_;

  public:
    loader(const dataset &d, loader_options o = loader_options(), site at = site::here())
        : at_(at) {
        const tn_loader_args a = {o.batch_size.value,  o.shuffle.value, o.drop_last.value,
                                  o.workers,           o.prefetch,      o.generator,
                                  dataset(d).release()};
        p_ = tn_loader_new_at(at.file, at.line, &a);
        if (!p_) detail::check();
    }
    loader(loader &&o) noexcept : p_(o.p_), at_(o.at_) { o.p_ = nullptr; }
    loader(const loader &) = delete;
    loader &operator=(const loader &) = delete;
    ~loader() { tn_loader_free(p_); }
    tn_loader *get() const noexcept { return p_; }
    int64_t batches() const { return tn_loader_batches(p_); } /* in an epoch */
    dataset set() const { return dataset(tn_loader_dataset(p_)); }
    /* The next batch into b, for loops that are no range; false as tn_loader_next. */
    bool next(batch &b, site at = site::here()) {
        tn_batch fresh;
        b = batch();
        if (!tn_loader_next_at(at.file, at.line, p_, &fresh)) {
            detail::check();
            return false;
        }
        b = batch::take(fresh);
        return true;
    }

    class iterator {
        loader *of_; /* NULL: the end */
        batch batch_;

      public:
        explicit iterator(loader *of) : of_(of) {
            if (of_) ++*this;
        }
        batch &operator*() & { return batch_; }
        const batch &operator*() const & { return batch_; }
        batch operator*() && { return static_cast<batch &&>(batch_); }
        batch *operator->() { return &batch_; }
        iterator &operator++() {
            if (!of_->next(batch_, of_->at_)) of_ = nullptr;
            return *this;
        }
        bool operator!=(const iterator &o) const { return of_ != o.of_; }
        bool operator==(const iterator &o) const { return of_ == o.of_; }
    };
    /* Begins an epoch; one that a `break` left is given up. */
    iterator begin() {
        tn_loader_stop(p_);
        return iterator(this);
    }
    iterator end() { return iterator(nullptr); }
};
} // namespace data

/* --- training --------------------------------------------------------------------------------- */

struct train_options {
    typedef train_options self_;
    TNI_OPTION(integer, epochs, 1)
    TNI_OPTION(nn::module, loss, nn::module()) /* undefined: CrossEntropyLoss */
    TNI_OPTION(optim::schedule *, schedule, nullptr)
    TNI_OPTION(data::loader *, test, nullptr) /* evaluated after each epoch */
    TNI_OPTION(double, clip_norm, 0)
    TNI_OPTION(const char *, checkpoint, nullptr)
    TNI_OPTION(flag, resume, false)
    TNI_OPTION(integer, accumulate, 0)
    TNI_OPTION(tn_dtype, autocast, TN_NO_DTYPE)
    TNI_OPTION(tn::scaler *, scaler, nullptr)
    TNI_OPTION(const char *, best, nullptr)
    TNI_OPTION(integer, patience, 0)
    TNI_OPTION(tn_watch, watch, TN_WATCH_LOSS)
    TNI_OPTION(double, min_delta, 0)
};

namespace detail {
/* What training calls: the user's functions, and C's structs of them. */
template <class F, class R>
struct progress_call {
    F &f;
    const tn_progress *progress;
    bool go_on;
    void operator()() { go_on = f(*progress); }
};
template <class F>
struct progress_call<F, void> {
    F &f;
    const tn_progress *progress;
    bool go_on;
    void operator()() {
        f(*progress);
        go_on = true;
    }
};
struct no_function {
    void operator()(const tn_progress &) const {}
    tensor operator()(const nn::module &, const data::batch &) const { return tensor(); }
};
template <class L>
struct loss_call {
    L &f;
    tn_module *model;
    const tn_batch *b;
    tensor loss;
    void operator()() { loss = f(nn::module(model), data::batch(*b)); }
};
template <class F, class L>
struct training {
    F on;
    L loss;
    static bool run_on(const tn_progress *p, void *user) {
        typedef decltype(some<F>()(*p)) result;
        progress_call<F, result> run = {static_cast<training *>(user)->on, p, false};
        return call(run) && run.go_on;
    }
    static tn_tensor *run_loss(tn_module *model, const tn_batch *b, tn_tensor **output,
                               void *user) {
        loss_call<L> run = {static_cast<training *>(user)->loss, model, b, tensor()};
        (void)output;
        if (!call(run) || !tn_ok()) return nullptr;
        if (!run.loss.defined())
            tn_error_set(TN_INVALID, nullptr, 0, "train: the loss is undefined");
        return nn::calls::lent(run.loss);
    }
};
template <class F, class L>
inline bool train(const nn::module &model, optim::optimizer &optimizer, data::loader &loader,
                  const train_options &o, const F &on, const L &loss, bool own_loss, site at) {
    training<F, L> run = {on, loss};
    tn_train_args a = tn_train_args();
    a.loss = o.loss.get();
    a.batch_loss = own_loss ? &training<F, L>::run_loss : nullptr;
    a.schedule = o.schedule ? o.schedule->get() : nullptr;
    a.test = o.test ? o.test->get() : nullptr;
    a.epochs = o.epochs.value;
    a.clip_norm = o.clip_norm;
    a.checkpoint = o.checkpoint;
    a.resume = o.resume.value;
    a.accumulate = o.accumulate.value;
    a.autocast = o.autocast;
    a.scaler = o.scaler ? o.scaler->get() : nullptr;
    a.best = o.best;
    a.patience = o.patience.value;
    a.watch = o.watch;
    a.min_delta = o.min_delta;
    a.on = &training<F, L>::run_on;
    a.user = &run;
    a.model = model.get();
    a.optimizer = optimizer.get();
    a.loader = loader.get();
    const bool ok = tn_train_at(at.file, at.line, &a);
    check();
    return ok;
}
} // namespace detail

/* The figures of a training as a table (CSV) and a picture (SVG); see tn_train_log. A callback
 * hands it what it hears:
 *     tn::train_log log({.csv = "run.csv", .svg = "run.svg"});
 *     tn::train(net, opt, loader, {}, [&log](const tn_progress &p) { return log(p); }); */
struct train_log_options {
    typedef train_log_options self_;
    TNI_OPTION(const char *, csv, nullptr)
    TNI_OPTION(const char *, svg, nullptr)
};
class train_log {
    tn_train_log *p_;

  public:
    explicit train_log(const train_log_options &o, site at = site::here()) {
        tn_train_log_args a = tn_train_log_args();
        a.csv = o.csv;
        a.svg = o.svg;
        p_ = tn_train_log_new_at(at.file, at.line, &a);
        detail::check();
    }
    train_log(const train_log &) = delete;
    train_log &operator=(const train_log &) = delete;
    ~train_log() { tn_train_log_free(p_); }
    tn_train_log *get() const noexcept { return p_; }
    bool operator()(const tn_progress &p) { return p_ && tn_train_log_on(&p, p_); }
};

/* Trains; see tn_train. on(progress) sees each tn_progress; if it returns false, training stops
 * without an error. loss(model, batch) computes the loss of a batch, in place of options.loss.
 *     tn::train(net, opt, loader, {.epochs = 5, .test = &test});
 *     tn::train(net, opt, loader, {}, [](const tn_progress &p) { return p.loss > 0.1; });
 *     tn::train(net, opt, loader, {}, on, [](tn::nn::module m, const tn::data::batch &b) {..}); */
inline bool train(const nn::module &model, optim::optimizer &optimizer, data::loader &loader,
                  const train_options &o = train_options(), site at = site::here()) {
    const detail::no_function none = detail::no_function();
    return detail::train(model, optimizer, loader, o, none, none, false, at);
}
template <class F>
inline auto train(const nn::module &model, optim::optimizer &optimizer, data::loader &loader,
                  const train_options &o, F on, site at = site::here())
    -> decltype(on(tn_progress()), bool()) {
    return detail::train(model, optimizer, loader, o, on, detail::no_function(), false, at);
}
template <class F, class L>
inline auto train(const nn::module &model, optim::optimizer &optimizer, data::loader &loader,
                  const train_options &o, F on, L loss, site at = site::here())
    -> decltype(on(tn_progress()), loss(model, data::batch()), bool()) {
    return detail::train(model, optimizer, loader, o, on, loss, true, at);
}

/* Means over an epoch of a loader, in eval mode and without recording; see tn_evaluate. */
struct evaluation {
    double loss, accuracy; /* NaN with an error */
};
inline evaluation evaluate(const nn::module &model, const nn::module &loss, data::loader &loader,
                           site at = site::here()) {
    evaluation e = {0, 0};
    if (!tn_evaluate_at(at.file, at.line, model.get(), loss.get(), loader.get(), &e.loss,
                        &e.accuracy)) {
        e.loss = e.accuracy = detail::not_a_number();
        detail::check();
    }
    return e;
}

/* Numbers of the program in a checkpoint: an array of tn_named_number, which loading writes. */
struct number_list {
    tn_named_number *at;
    int64_t n;
    number_list() : at(nullptr), n(0) {}
    template <size_t N>
    number_list(tn_named_number (&a)[N]) : at(a), n(static_cast<int64_t>(N)) {}
};

/* Checkpoints of all that a training needs; a NULL member is left out. See train.h. */
struct checkpoint {
    typedef checkpoint self_;
    TNI_OPTION(nn::module, model, nn::module())
    TNI_OPTION(optim::optimizer *, optimizer, nullptr)
    TNI_OPTION(optim::schedule *, schedule, nullptr)
    TNI_OPTION(tn_generator *, generator, nullptr)
    TNI_OPTION(number_list, numbers, number_list()) /* such as the mean that inputs are scaled by */

    /*     tn::checkpoint().set_model(net).set_optimizer(&opt).save("run.safetensors"); */
    bool save(const char *path, site at = site::here()) const {
        const tn_state s = state();
        const bool ok = tn_checkpoint_save_at(at.file, at.line, path, &s);
        if (!ok) detail::check();
        return ok;
    }
    bool load(const char *path, site at = site::here()) const {
        const tn_state s = state();
        const bool ok = tn_checkpoint_load_at(at.file, at.line, path, &s);
        if (!ok) detail::check();
        return ok;
    }

  private:
    tn_state state() const {
        tn_state s = tn_state();
        s.model = model.get();
        s.optimizer = optimizer ? optimizer->get() : nullptr;
        s.schedule = schedule ? schedule->get() : nullptr;
        s.generator = generator;
        s.numbers = numbers.at;
        s.nnumbers = numbers.n;
        return s;
    }
};
TNI_TN_END
#endif

#endif
