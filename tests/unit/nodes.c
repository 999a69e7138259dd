/* nodes.c - promises of src/call/node.c: what a call leaves on the tape, slot by slot and byte by
 * byte, what of it is a copy, and that all of it goes again. New memory is filled with rubbish. */
#include "exact.h"

/* --- rows ------------------------------------------------------------------------------------- */

static const char *at(const tn_gen *gen, const void *args, const char *name) {
    for (int i = 0; i < gen->nparam; i++)
        if (!strcmp(gen->param[i].name, name)) return (const char *)args + gen->param[i].offset;
    CHECK(name == NULL); /* no such parameter */
    return NULL;
}
#define AT(type, g, name) (*(const type *)(const void *)at((g)->row->gen, (g)->args, name))

static uint64_t unneeded;
static uint32_t unwritten;
static tn_row keeps, writes;

/* a has the shape of self, b is (2) of integers, c (3); the saves are (1, 2) and nothing. */
static bool keeps_check(tn_frame *f) {
    static const int64_t two[1] = {2}, three[1] = {3}, pair[2] = {1, 2};
    f->unneeded = unneeded;
    return tn_announce(f, 0, TN_F64, f->in[0]->ndim, f->in[0]->size) &&
           tn_announce(f, 1, TN_I64, 1, two) && tn_announce(f, 2, TN_F64, 1, three) &&
           (!f->recording || tn_announce(f, 3, TN_F32, 2, pair));
}
static int seen;
static void keeps_grad(tn_gradient *g) {
    tn_ints first = AT(tn_ints, g, "first"), second = AT(tn_ints, g, "second"),
            last = AT(tn_ints, g, "last");
    tn_floats reals = AT(tn_floats, g, "reals");
    tn_tensors list = AT(tn_tensors, g, "list"), more = AT(tn_tensors, g, "more");
    CHECK(first.n == 0 && second.n == -1 && last.n == 3 && last.at[0] == 7 && last.at[2] == 9);
    CHECK(reals.n == 1 && reals.at[0] == 0.5);
    CHECK_TEXT(AT(char *, g, "word"), "kept all");
    CHECK(list.n == 2 && more.n == 1 && list.at == g->in + 3 && more.at == g->in + 5);
    CHECK(g->nin == 6 && g->nout == 4 && tn_item(g->in[2]) == 2.5);
    CHECK(tn_numel(g->in[0]) == 6 && tn_numel(g->out[3]) == 2 && tn_numel(g->out[1]) == 2);
    seen++;
    tn_give(g, 0, g->incoming[0]);
}

static bool writes_check(tn_frame *f) {
    f->unwritten = unwritten;
    return tn_announce(f, 0, TN_F64, 1, f->in[0]->size);
}
static void writes_run(tn_frame *f) {
    ((double *)tn_data(f->out[0]))[0] = 0;
    if (!(f->unwritten & 1)) ((double *)tn_data(f->in[0]))[0] = 1;
    if (f->in[2] && !(f->unwritten & 4)) ((double *)tn_data(f->in[2]))[0] = 1;
}
static void any_grad(tn_gradient *g) { (void)g, seen++; }

static void rows(void) {
    memset(&keeps, 0, sizeof keeps);
    memset(&writes, 0, sizeof writes);
    keeps.name = "keeps", writes.name = "writes";
    keeps.schema = "keeps(Tensor self, Tensor? other, Tensor|Scalar x, int[] first, int[]? second, "
                   "int[] last, float[] reals, str word, Tensor[] list, Tensor?[] more) -> "
                   "(Tensor a, Tensor b, Tensor c)";
    keeps.saves = "hidden", keeps.needs = "self:other,c other:self,hidden list:list";
    keeps.check = keeps_check, keeps.run = fill_run, keeps.grad = keeps_grad;
    writes.schema = "writes(Tensor(a!) self, Tensor other, Tensor(b!)? third, Tensor[] l, "
                    "Tensor(c!)[] m) -> Tensor";
    writes.needs = "self other third l m", writes.check = writes_check, writes.run = writes_run;
    writes.grad = any_grad;
    CHECK(tn_register(&keeps) && tn_register(&writes));
    unneeded = 0, unwritten = 0;
}

static uint8_t counts_dtype[2];
static bool counts_check(tn_frame *f) {
    static const int64_t three[1] = {3};
    return tn_announce(f, 0, (tn_dtype)counts_dtype[0], 1, three) &&
           tn_announce(f, 1, (tn_dtype)counts_dtype[1], 1, three);
}

/* --- one node --------------------------------------------------------------------------------- */

static int64_t words(int64_t bytes) { return (bytes + 7) / 8; }

/* Slot i is of that kind and t's; its words begin at *at, which moves behind them. */
static void slot_is(const tni_node *n, int i, int kind, const tn_tensor *t, int64_t *at) {
    const tni_slot *s = &n->slot[i];
    const int64_t *from = (const int64_t *)(const void *)n + s->at;
    bool geometry = kind == TNI_SLOT_SAVED || i >= n->nin, none = kind == TNI_SLOT_ABSENT;
    bool ok = CHECK_EQ(s->kind, kind) && CHECK_EQ(s->dtype, none ? 0 : t->dtype) &&
              CHECK_EQ(s->ndim, none ? 0 : t->ndim) && CHECK_EQ(s->device, none ? 0 : t->device);
    if (none) ok = ok && CHECK(!s->saved && !s->edge && !s->at && !s->version && !s->edge_out);
    if (none || kind == TNI_SLOT_NUMBER || !at) return;
    ok = ok && CHECK_EQ(s->at, *at) && CHECK(!memcmp(from, t->size, (size_t)t->ndim * 8));
    if (geometry && ok)
        CHECK(!memcmp(from + t->ndim, t->stride, (size_t)t->ndim * 8) &&
              CHECK_EQ(from[2 * t->ndim], t->offset));
    *at += geometry ? 2 * t->ndim + 1 : t->ndim;
    if (!ok) printf("    slot %d\n", i);
}
static const tni_slot *edge_is(const tni_node *n, int i, const void *edge, uint32_t out) {
    CHECK(n->slot[i].edge == edge);
    CHECK_EQ(n->slot[i].edge_out, out);
    return &n->slot[i];
}

typedef struct arguments {
    tn_value v[10];
    tn_tensor *list[2], *more[1];
    int64_t last[16]; /* the message of an error shows that many of a longer list */
    double reals[1];
    char word[9];
} arguments;
static void argue(arguments *a, tn_tensor *self, tn_tensor *other, tn_tensor *l, tn_tensor *m) {
    memset(a, 0, sizeof *a);
    a->list[0] = l, a->list[1] = m;
    a->last[0] = 7, a->last[1] = 8, a->last[2] = 9, a->reals[0] = 0.5;
    strcpy(a->word, "kept all");
    a->v[0] = tensor(NULL, self), a->v[1] = tensor(NULL, other);
    a->v[2] = named(NULL, TN_T_FLOAT), a->v[2].as.real = 2.5;
    a->v[3] = named(NULL, TN_T_INTS), a->v[3].as.ints = tn_empty_dims();
    a->v[4] = named(NULL, 0);
    a->v[5] = named(NULL, TN_T_INTS), a->v[5].as.ints = tn_ints_of(a->last, 3);
    a->v[6] = named(NULL, TN_T_FLOATS), a->v[6].as.floats.at = a->reals, a->v[6].as.floats.n = 1;
    a->v[7] = named(NULL, TN_T_STRING), a->v[7].as.string = a->word;
    a->v[8] = named(NULL, TN_T_TENSORS), a->v[8].as.tensors = tn_tensors_of(a->list, 2);
    a->v[9] = named(NULL, TN_T_TENSORS), a->v[9].as.tensors = tn_tensors_of(a->more, 1);
}

static void node_holds(const tni_node *n, uint64_t id, int nin, int nout, uint32_t refs) {
    CHECK(n->row == &keeps && n->id == id && n->nin == nin && n->nout == nout && n->refs == refs);
    CHECK(!strcmp(n->file, "exact") && n->line == 42 && n->owner == tni_here());
    CHECK(!n->named.as && !n->busy && !n->queued && !n->useful && !n->released && !n->function &&
          !n->watch);
}
/* Words behind the slots: arguments, then what the lists hold (3 numbers, 1 number, 9 bytes). */
static int64_t behind(const tni_node *n, int64_t lists) {
    int64_t at =
        words((int64_t)offsetof(tni_node, slot) + (n->nin + n->nout) * (int64_t)sizeof(tni_slot));
    CHECK_EQ(n->args_at, at);
    return at + words(n->row->gen->args_size) + lists;
}

/* self and a leaf of the list ask for gradients: they read other, c and the list. */
static void a_node_holds_what_gradients_read(void) {
    tn_context *c = begin();
    rows();
    int64_t before = 0;
    for (int round = 0; round < 4; round++) {
        if (round == 1) before = live;
        TN_SCOPE {
            tn_tensor *x = tn_requires_grad(of(2, 3, 1)), *self = tn_mul_scalar(x, 2),
                      *other = tn_transpose(of(4, 5, 2), 0, 1),
                      *leaf = tn_requires_grad(of(1, 1, 3)), *wide = of(2, 3, 4);
            uint64_t next = tni_calls(tni_here())->next_id;
            arguments a;
            argue(&a, self, other, leaf, wide);
            tn_tensor *y = call(&keeps, a.v, 10);
            if (!CHECK(y && y->node && result[2]->node == y->node && !result[1]->node)) break;
            const tni_node *n = y->node;
            CHECK(result[2]->node_out == 2 && y->node_out == 0);
            node_holds(n, next, 6, 4, 2);
            CHECK_EQ(tni_calls(tni_here())->next_id, next + 1);
            int64_t at = behind(n, 3 + 1 + 2);
            slot_is(n, 0, TNI_SLOT_GHOST, self, NULL);
            CHECK_EQ(n->slot[0].at, 0); /* the shape of output 0 */
            slot_is(n, 1, TNI_SLOT_SAVED, other, &at);
            slot_is(n, 2, TNI_SLOT_NUMBER, tn_zeros(TN_EMPTY_DIMS, .dtype = TN_F64), NULL);
            CHECK_EQ(n->slot[2].at, at);
            CHECK(((const double *)(const void *)n)[at] == 2.5);
            at += 2;
            slot_is(n, 3, TNI_SLOT_SAVED, leaf, &at);
            slot_is(n, 4, TNI_SLOT_SAVED, wide, &at);
            slot_is(n, 5, TNI_SLOT_ABSENT, NULL, &at);
            slot_is(n, 6, TNI_SLOT_GHOST, y, &at);
            slot_is(n, 7, TNI_SLOT_GHOST, result[1], &at);
            slot_is(n, 8, TNI_SLOT_OUT, result[2], &at);
            at += 2 * 2 + 1; /* the save, which no one asked for */
            CHECK_EQ(n->bytes, at * 8);
            CHECK(n->slot[9].kind == TNI_SLOT_GHOST && !n->slot[9].saved);
            CHECK(n->slot[1].saved == other->storage && other->storage->refs >= 2);
            CHECK(n->slot[8].saved == result[2]->storage && result[2]->storage->refs == 2);
            CHECK(!edge_is(n, 0, self->node, 0)->saved && !n->slot[6].saved);
            edge_is(n, 1, NULL, 0), edge_is(n, 3, (void *)((uintptr_t)leaf | 1), 0);
            CHECK(self->node->refs == 2 && leaf->refs == 2);
            memset(a.last, 0, sizeof a.last), a.reals[0] = 0, strcpy(a.word, "gone");
            memset(a.list, 0, sizeof a.list); /* the caller's own */
            seen = 0;
            if (round > 2) CHECK(tn_backward(tn_sum(y)) && seen == 1 && tn_grad_of(x));
        }
        if (round) CHECK_EQ(live, before);
    }
    end(c);
}

/* What check says is not read this time is not kept. */
static void a_node_holds_nothing_else(void) {
    tn_context *c = begin();
    rows();
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(of(2, 3, 1)), *other = tn_requires_grad(of(1, 3, 2)),
                  *one = of(1, 1, 3), *two = of(3, 3, 4);
        arguments a;
        argue(&a, x, NULL, one, two);
        const tni_node *n = call(&keeps, a.v, 10)->node;
        slot_is(n, 0, TNI_SLOT_GHOST, x, NULL), slot_is(n, 1, TNI_SLOT_ABSENT, NULL, NULL);
        int64_t at = behind(n, 6) + 2;
        slot_is(n, 3, TNI_SLOT_GHOST, one, &at), slot_is(n, 4, TNI_SLOT_GHOST, two, &at);
        CHECK(n->slot[8].saved == result[2]->storage && !n->slot[9].saved);
        argue(&a, of(2, 3, 1), other, one, two);
        n = call(&keeps, a.v, 10)->node;
        CHECK(n->slot[0].kind == TNI_SLOT_SAVED && n->slot[1].kind == TNI_SLOT_GHOST);
        CHECK(!n->slot[8].saved && n->slot[9].kind == TNI_SLOT_OUT && n->slot[9].saved);
        CHECK_EQ(((tni_storage *)n->slot[9].saved)->refs, 1);
        unneeded = 1 | (uint64_t)1 << 35;
        n = call(&keeps, a.v, 10)->node;
        CHECK(n->slot[0].kind == TNI_SLOT_GHOST && n->slot[9].kind == TNI_SLOT_GHOST);
        CHECK(!n->slot[9].saved && !n->slot[0].edge && n->slot[1].edge);
        unneeded = 0;
        tn_set_grad_mode(false);
        CHECK(!call(&keeps, a.v, 10)->node && !tn_needs_grad(result[2]));
        tn_set_grad_mode(true);
        argue(&a, of(2, 3, 1), of(1, 1, 1), one, two);
        CHECK(!call(&keeps, a.v, 10)->node && result[1] && result[2]);
    }
    end(c);
}

/* Numbers count up, past those of a graph that another thread has begun. */
static void nodes_are_numbered_in_order(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tni_block *b = tni_here();
        tn_tensor *x = tn_requires_grad(of(1, 1, 1)), *y, *z;
        uint64_t first = tni_calls(b)->next_id;
        y = tn_mul_scalar(x, 2), z = tn_mul_scalar(x, 3);
        CHECK(y->node->id == first && z->node->id == first + 1 &&
              tni_calls(b)->next_id == first + 2);
        CHECK(y->node->nout == 1 && !y->node->slot[0].at); /* the shape of the result */
        tni_calls(b)->next_id = 1;
        y = tn_mul(x, z);
        CHECK(y->node->id == first + 2 && tni_calls(b)->next_id == first + 3);
        tni_calls(b)->next_id = first + 2;
        z = tn_mul(y, z);
        CHECK(z->node->id == first + 3 && tni_calls(b)->next_id == first + 4);
        CHECK(tn_backward(z) && tn_item(tn_grad_of(x)) == 27);
    }
    end(c);
}

/* A row without a gradient leaves no node where all results are whole numbers. */
static void whole_numbers_leave_no_node(void) {
    static tn_row row;
    tn_context *c = begin();
    memset(&row, 0, sizeof row);
    row.name = "counts", row.schema = "counts(Tensor self) -> (Tensor a, Tensor b)";
    row.check = counts_check, row.run = fill_run;
    CHECK(tn_register(&row));
    TN_SCOPE {
        static const uint8_t dtypes[] = {TN_BOOL, TN_I64, TN_U8, TN_F16, TN_F64, TN_C64};
        tn_value v = tensor(NULL, tn_requires_grad(of(1, 1, 1)));
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 2; k++) {
                uint64_t next = tni_calls(tni_here())->next_id;
                tn_error_info e;
                counts_dtype[k] = dtypes[i], counts_dtype[!k] = TN_I32;
                CHECK_EQ(call(&row, &v, 1) != NULL, i < 3);
                if (i < 3)
                    CHECK(!tn_needs_grad(result[0]) && !tn_needs_grad(result[1]));
                else
                    CHECK(tn_error_take(&e) && e.code == TN_AUTOGRAD &&
                          !strncmp(e.message, "the operator has no gradient, but an argument", 32));
                CHECK(tni_calls(tni_here())->next_id == next && v.as.tensor->refs == 1);
                if (i < 3) continue;
                v = tensor(NULL, of(1, 1, 1));
                CHECK(call(&row, &v, 1) && !tn_needs_grad(result[k]));
                v = tensor(NULL, tn_requires_grad(of(1, 1, 1)));
            }
    }
    end(c);
}

static void what_no_node_can_hold_is_refused(void) {
    tn_context *c = begin();
    rows();
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(of(2, 3, 1));
        tn_error_info e;
        arguments a;
        argue(&a, x, NULL, x, x);
        int64_t had = call(&keeps, a.v, 10)->node->bytes / 8;
        a.v[5].as.ints.n += UINT32_MAX / 8 - had; /* not read: there is no memory for it */
        CHECK(!call(&keeps, a.v, 10) && tn_error_take(&e) && e.code == TN_MEMORY);
        a.v[5].as.ints.n++;
        CHECK(!call(&keeps, a.v, 10) && tn_error_take(&e) && e.code == TN_UNSUPPORTED);
        CHECK(!strncmp(e.message, "the arguments are too large to record", 37));
    }
    end(c);
}

/* Of the first 64 inputs the shape of output 0 is not written down again. */
static void shapes_of_long_lists_are_kept(void) {
    tn_context *c = begin();
    rows();
    TN_SCOPE {
        tn_tensor *in[70], *y;
        for (int i = 0; i < 70; i++) in[i] = tn_ones(TN_DIMS(i == 3 ? 2 : i == 4 ? 0 : 1));
        in[65] = tn_ones(TN_DIMS(4, 5, 6)), in[66] = tn_ones(TN_DIMS(3));
        in[65] = tn_select(tn_select(in[65], 0, 0), 0, 0);
        in[69] = tn_requires_grad(tn_ones(TN_DIMS(1)));
        y = tn_cat(tn_tensors_of(in, 70));
        const tni_node *n = y->node;
        if (CHECK(n && n->nin == 70))
            for (int i = 0; i < 70; i++) {
                const int64_t *size = (const int64_t *)(const void *)n + n->slot[i].at;
                CHECK(n->slot[i].kind == TNI_SLOT_GHOST && n->slot[i].at && !n->slot[i].saved);
                CHECK_EQ(size[0], in[i]->size[0]);
            }
        CHECK(tn_backward(tn_sum(y)) && tn_item(tn_grad_of(in[69])) == 1);
        for (int i = 0; i < 70; i++) in[i] = of(2, 3, 1);
        arguments a;
        argue(&a, tn_requires_grad(of(2, 3, 1)), NULL, NULL, NULL);
        a.v[8].as.tensors = tn_tensors_of(in, 70);
        n = call(&keeps, a.v, 10)->node;
        for (int i = 0; i < 73; i++) {
            const int64_t *size = (const int64_t *)(const void *)n + n->slot[i].at;
            if (i == 1 || i == 2) continue;
            CHECK(n->slot[i].kind == TNI_SLOT_GHOST && !n->slot[i].at == (i < 64));
            CHECK(i < 64 || (size[0] == 2 && size[1] == 3));
        }
    }
    end(c);
}

/* --- what the call itself writes -------------------------------------------------------------- */

static tn_tensor *write(tn_tensor *self, tn_tensor *other, tn_tensor *third, tn_tensor **l, int nl,
                        tn_tensor **m, int nm) {
    tn_value v[5];
    v[0] = tensor(NULL, self), v[1] = tensor(NULL, other), v[2] = tensor(NULL, third);
    v[3] = of_list(l, nl), v[4] = of_list(m, nm);
    return call(&writes, v, 5);
}

/* Slots 0 and 2 are copies where they are written; what lies in the same memory is, too. */
static void what_a_call_overwrites_is_kept_as_a_copy(void) {
    tn_context *c = begin();
    rows();
    for (unwritten = 0; unwritten < 8; unwritten++)
        TN_SCOPE {
            tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(4), .dtype = TN_F64)),
                      *sevens = tn_full(TN_DIMS(8), 7.0, .dtype = TN_F64),
                      *fives = tn_full(TN_DIMS(10), 5.0, .dtype = TN_F64);
            tn_tensor *self = tn_slice(fives, .start = 2, .end = 6),
                      *third = tn_slice(sevens, .end = 4),
                      *list[] = {tn_slice(fives, .start = 6), tn_slice(sevens, .start = 4)};
            tn_tensor *y = write(self, x, third, list, 2, NULL, 0);
            if (!CHECK(y && y->node)) break;
            tni_node *n = y->node;
            bool first = !(unwritten & 1), last = !(unwritten & 4);
            CHECK_EQ(n->slot[0].saved != self->storage, first);
            CHECK_EQ(n->slot[3].saved != self->storage, first);
            CHECK_EQ(n->slot[2].saved != third->storage, last);
            CHECK_EQ(n->slot[4].saved != third->storage, last);
            CHECK(n->slot[1].saved == x->storage);
            tni_storage *copy = (tni_storage *)n->slot[0].saved;
            if (first) {
                CHECK(copy->refs == 1 && copy->bytes == 32 && ((double *)copy->data)[0] == 5);
                CHECK_EQ(((int64_t *)(void *)n)[n->slot[0].at + 2], 0);
                CHECK_EQ(n->slot[0].version, 0);
            } else
                CHECK_EQ(((int64_t *)(void *)n)[n->slot[0].at + 2], 2);
            CHECK(((double *)tn_data(self))[0] == (first ? 1 : 5));
            seen = 0;
            CHECK(tn_backward(tn_sum(y)) && seen == 1);
        }
    unwritten = 0;
    end(c);
}

static uint32_t version(const tn_tensor *t) { return t->storage->version; }
/* Versions move on by one for each parameter that is written, and for nothing else. */
static void versions_of_what_is_written_move_on(void) {
    tn_context *c = begin();
    rows();
    tn_tensor *t[9];
    TN_SCOPE {
        for (int i = 0; i < 9; i++) t[i] = tn_ones(TN_DIMS(1), .dtype = TN_F64);
        for (unwritten = 0; unwritten < 8; unwritten++) {
            uint32_t was[9];
            for (int i = 0; i < 9; i++) was[i] = version(t[i]);
            CHECK(write(t[0], t[1], unwritten & 2 ? NULL : t[2], t + 3, 3, t + 6, 3) != NULL);
            CHECK_EQ(version(t[0]) - was[0], !(unwritten & 1));
            CHECK_EQ(version(t[2]) - was[2], !(unwritten & 4) && !(unwritten & 2));
            for (int i = 1; i < 6; i++)
                if (i != 2) CHECK_EQ(version(t[i]) - was[i], 0);
            for (int i = 6; i < 9; i++) CHECK_EQ(version(t[i]) - was[i], 1);
        }
        unwritten = 0;
    }
    end(c);
}
static double fixed[1] = {3};
/* What is only read may be read-only memory; each that is written may not. */
static void each_that_is_written_may_be_written(void) {
    tn_context *c = begin();
    rows();
    TN_SCOPE {
        static const char *const names[] = {"self", NULL, "third", NULL, NULL, NULL, "m", "m", "m"};
        tn_tensor *t[9], *plain[9];
        tn_wrap_options o;
        tn_error_info e;
        memset(&o, 0, sizeof o);
        o.read_only = true;
        for (int i = 0; i < 9; i++) plain[i] = tn_ones(TN_DIMS(1), .dtype = TN_F64);
        for (int i = 0; i < 9; i++) {
            char text[80];
            memcpy(t, plain, sizeof t);
            t[i] = tn_wrap(fixed, TN_DIMS(1), TN_F64, &o);
            tn_tensor *y = write(t[0], t[1], t[2], t + 3, 3, t + 6, 3);
            CHECK_EQ(y == NULL, names[i] != NULL);
            snprintf(text, sizeof text, "%s is read-only memory", names[i] ? names[i] : "");
            if (!y) CHECK(tn_error_take(&e) && !strncmp(e.message, text, strlen(text)));
        }
        CHECK(fixed[0] == 3);
    }
    end(c);
}

static const check_test tests[] = {
    CHECK_TEST(a_node_holds_what_gradients_read),
    CHECK_TEST(a_node_holds_nothing_else),
    CHECK_TEST(nodes_are_numbered_in_order),
    CHECK_TEST(whole_numbers_leave_no_node),
    CHECK_TEST(what_no_node_can_hold_is_refused),
    CHECK_TEST(shapes_of_long_lists_are_kept),
    CHECK_TEST(what_a_call_overwrites_is_kept_as_a_copy),
    CHECK_TEST(versions_of_what_is_written_move_on),
    CHECK_TEST(each_that_is_written_may_be_written),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
