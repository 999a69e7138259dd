/* taken_back.h - kinds.c: argument structs that tn_register compares, and rows that tn_unregister
 * takes back. */
#ifndef TESTS_KINDS_TAKEN_BACK_H
#define TESTS_KINDS_TAKEN_BACK_H

/* --- members of the argument struct ----------------------------------------------------------- */

typedef struct tn_natural_args { /* as one would write it: the schema's order */
    tn_tensor *out, *self;
    double width;
} tn_natural_args;
typedef struct tn_integer_args {
    tn_tensor *out;
    int width;
    tn_tensor *self;
} tn_integer_args;

static const char *refused(const tn_member *members) {
    static tn_row own;
    tn_error_info e;
    own = soft, own.gen = NULL, own.members = members;
    own.name = "my_own", own.schema = "my_own(Tensor self, float width=1) -> Tensor";
    if (!tn_register(&own)) return taken(&e);
    return tn_unregister(&own) ? "" : taken(&e);
}
static void an_argument_struct_is_compared(void) {
    static const tn_member right[] = {TN_MEMBER(tn_my_soft_args, self),
                                      TN_MEMBER(tn_my_soft_args, width),
                                      TN_MEMBER(tn_my_soft_args, out),
                                      {NULL, 0, 0}};
    static const tn_member natural[] = {
        TN_MEMBER(tn_natural_args, self), TN_MEMBER(tn_natural_args, width), {NULL, 0, 0}};
    static const tn_member integer[] = {
        TN_MEMBER(tn_integer_args, width), TN_MEMBER(tn_integer_args, self), {NULL, 0, 0}};
    static const tn_member lacks[] = {TN_MEMBER(tn_my_soft_args, self), {NULL, 0, 0}};
    static const tn_member other[] = {TN_MEMBER(tn_my_parts_args, limit), {NULL, 0, 0}};
    CHECK(refused(right)[0] == 0);
    CHECK(strstr(refused(natural), "'my_own': member 'self' of its arguments is misplaced or of "
                                   "another type; the order is out, width, self") != NULL);
    CHECK(strstr(refused(integer), "member 'width' of its arguments is misplaced") != NULL);
    CHECK(strstr(refused(lacks), "member 'width' of its arguments is missing") != NULL);
    CHECK(strstr(refused(other), "member 'limit' of its arguments is not in the schema") != NULL);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- rows that are taken back ----------------------------------------------------------------- */

static void a_row_is_taken_back(void) {
    static tn_row own, next;
    tn_error_info e;
    const int64_t count = tn_row_count();
    own = soft, own.gen = NULL, own.name = "my_own";
    own.schema = "my_own(Tensor self, float width=1) -> Tensor";
    next = own, next.name = "my_next";
    next.schema = "my_next(Tensor self, float width=1) -> Tensor";
    CHECK(!tn_unregister(&own) && strstr(taken(&e), "'my_own' is not registered") != NULL);
    CHECK(!tn_unregister(NULL) && strstr(taken(&e), "is not registered") != NULL);
    for (int turn = 0; turn < 3; turn++) {
        CHECK(tn_register(&own) && tn_register(&next) && tn_row_count() == count + 2);
        CHECK(tn_unregister(&own) && own.gen == NULL && tn_row_named("my_own") == NULL);
        CHECK(tn_row_count() == count + 1 && tn_row_at(count) == &next);
        CHECK(tn_unregister(&next) && tn_row_count() == count && tn_row_at(count) == NULL);
    }
    CHECK(tn_register(&own));
    TN_SCOPE {
        tn_tensor *y;
        tn_value v[1];
        v[0] = of_tensor(NULL, numbers(2, 2));
        CHECK(call_one("my_own", v, 1, &y) && is_near(y, 0, -1.7 / 2.7));
        CHECK(!call_one("my_gone", v, 1, &y)); /* an error is pending: no matter */
        CHECK(tn_unregister(&own) && taken(&e)[0] != 0);
        CHECK(!call_one("my_own", v, 1, &y));
        taken(&e);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void what_is_recorded_keeps_its_row(void) {
    static tn_row own, named;
    tn_recording *recording = NULL;
    tn_error_info e;
    char name[80];
    own = soft, own.gen = NULL, own.name = "my_own";
    own.schema = "my_own(Tensor self, float width=1) -> Tensor";
    named = layer, named.gen = NULL, named.name = "my_named", named.node = "MyNamedBackward";
    named.schema = "my_named(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor";
    CHECK(tn_register(&own) && tn_register(&named));
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(numbers(2, 2)), *y = NULL, *z = NULL;
        tn_value v[2];
        v[0] = of_tensor(NULL, x), v[1] = of_tensor(NULL, x);
        CHECK(call_one("my_own", v, 1, &y));
        CHECK(!tn_unregister(&own) && strstr(taken(&e), "'my_own' has 1 recorded calls") != NULL);
        CHECK(tn_backward(tnp_sum(y, tn_no_dims(), false, TN_NO_DTYPE)) && tn_grad_of(x));
        CHECK(call_one("my_named", v, 2, &z));
        tn_history_text(tn_history_of(z), name, sizeof name);
        CHECK(strstr(name, "MyNamed") != NULL);
        CHECK(!tn_unregister(&named) && strstr(taken(&e), "recorded calls") != NULL);
    } /* the tape goes with its results */
    CHECK(tn_unregister(&named));
    TN_SCOPE {
        tn_tensor *x = numbers(2, 2), *y = NULL;
        tn_value v[1];
        v[0] = of_tensor(NULL, x);
        CHECK(tn_record_begin() && call_one("my_own", v, 1, &y));
        recording = tn_record_end();
    }
    CHECK(!tn_unregister(&own) && strstr(taken(&e), "recorded calls") != NULL);
    CHECK(tn_replay(recording));
    tn_recording_free(recording);
    CHECK(tn_unregister(&own));
    CHECK_EQ(tn_memory().live_tensors, 0);
}

#endif
