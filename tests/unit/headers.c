/* headers.c - what can be asked of a tensor, of none, and of one that has no memory yet; states of
 * a generator that torch never writes. */
#include "../refused.h"
#include "exact.h"

static void tensors_over_memory_of_others_say_that_they_are_read_only(void) {
    static const double fixed[3] = {1, 2, 3};
    tn_context *c = begin();
    TN_SCOPE {
        tn_wrap_options o;
        tn_tensor *t, *plain = of(1, 3, 1);
        memset(&o, 0, sizeof o);
        o.read_only = true;
        t = tn_wrap((void *)(uintptr_t)fixed, TN_DIMS(3), TN_F64, &o);
        CHECK(tn_is_read_only(t) && tn_is_read_only(tn_slice(t, .end = 2)));
        CHECK(!tn_is_read_only(plain) && !tn_is_read_only(tn_clone(t)) && !tn_is_read_only(NULL));
        REFUSED(tn_add_scalar_(t, 1), TN_INVALID, "read-only");
        CHECK(at(t, 2) == 3);
    }
    end(c);
}

static bool looked;
static bool size_check(tn_frame *f) { return tn_announce(f, 0, TN_F64, 1, f->in[0]->size); }
static bool look(tn_frame *f) { /* the result is announced, its memory comes behind this */
    CHECK(f->out[0] && !tn_data(f->out[0]) && tn_version(f->out[0]) == 0);
    CHECK(tn_numel(f->out[0]) == 3 && tn_data(f->in[0]) && !tn_data(NULL) && !tn_version(NULL));
    CHECK(!tn_to_text(f->out[0], NULL));
    says(TN_UNSUPPORTED, "tn_to_text: the tensor is on a different device", __LINE__);
    return looked = true;
}
static void no_grad(tn_gradient *g) { (void)g; }
static void an_announced_result_has_no_data_yet(void) {
    static tn_row row;
    tn_context *c = begin();
    row.name = "looks", row.schema = "looks(Tensor self) -> Tensor", row.grad = no_grad;
    row.check = size_check, row.look = look, row.run = fill_run;
    CHECK(tn_register(&row));
    TN_SCOPE {
        tn_value v = tensor(NULL, tn_full(TN_DIMS(3), 1.0, .dtype = TN_F64));
        tn_tensor *out = call(&row, &v, 1);
        CHECK(looked && out && at(out, 2) == 0 && tn_data(out));
    }
    end(c);
}

enum { LEFT_AT = 8, NEXT_AT = 16 }; /* in torch's state bytes */
static void the_default_generator_stays_and_states_must_fit(void) {
    tn_context *c = begin();
    unsigned char state[TN_GENERATOR_BYTES], now[TN_GENERATOR_BYTES];
    tn_generator *g;
    TN_SCOPE {
        double first;
        tn_manual_seed(5);
        first = tn_item(tn_rand(TN_DIMS(1)));
        tn_manual_seed(5);
        tn_generator_free(tn_default_generator()); /* the context's own */
        CHECK(tn_item(tn_rand(TN_DIMS(1))) == first);
    }
    g = tn_generator_new(7);
    tn_generator_state(g, state);
    for (int left = 1; left < 3; left++) { /* a fresh one: position 0, 1 word left */
        memset(state + LEFT_AT, 0, 4), state[LEFT_AT] = (unsigned char)left;
        memset(state + NEXT_AT, 0, 8);
        if (left == 1)
            CHECK(tn_generator_set_state(g, state));
        else
            REFUSED(tn_generator_set_state(g, state), TN_FORMAT,
                    "the state is not that of a random generator: its position does not match its "
                    "count of remaining words");
    }
    tn_generator_state(g, now);
    CHECK(now[LEFT_AT] == 1 && now[NEXT_AT] == 0);
    tn_generator_free(g);
    end(c);
}

static void set_data_takes_all_but_history_and_gradient(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *t = tn_full(TN_DIMS(2), 1.0, .dtype = TN_F64), *view = tn_slice(t, .end = 1),
                  *from = tn_reshape(tn_arange(6, .dtype = TN_F32), TN_DIMS(2, 3));
        tn_requires_grad(t);
        CHECK(tn_set_data(t, tn_t(from)));
        CHECK(tn_ndim(t) == 2 && tn_size(t, 0) == 3 && tn_size(t, 1) == 2 && tn_numel(t) == 6);
        CHECK(tn_dtype_of(t) == TN_F32 && !tn_is_contiguous(t) && tn_same_storage(t, from));
        CHECK(tn_needs_grad(t) && tn_is_leaf(t) && tn_item(tn_sum(tn_detach(t))) == 15);
        CHECK(tn_numel(view) == 1 && at(view, 0) == 1);
    }
    end(c);
}

static int line_of_place(const char *file, int line) { return strcmp(file, "x.py") ? 0 : -line; }
static void lines_of_another_language_are_decoded(void) {
    tn_context *c = begin();
    tn_error_info e;
    TN_SCOPE {
        tn_tensor *t = tn_ones(TN_DIMS(2));
        tn_set_line_decoder(line_of_place);
        CHECK(!tn_requires_grad_at("x.py", -77, tn_argmax(t), true));
        CHECK(tn_error_take(&e) && e.line == 77 && strcmp(e.file, "x.py") == 0);
        tn_set_line_decoder(NULL);
        CHECK(!tn_requires_grad_at("x.py", -77, tn_argmax(t), true));
        CHECK(tn_error_take(&e) && e.line != 77);
    }
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(set_data_takes_all_but_history_and_gradient),
        CHECK_TEST(lines_of_another_language_are_decoded),
        CHECK_TEST(tensors_over_memory_of_others_say_that_they_are_read_only),
        CHECK_TEST(an_announced_result_has_no_data_yet),
        CHECK_TEST(the_default_generator_stays_and_states_must_fit),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
