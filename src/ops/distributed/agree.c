/* agree.c - what a call of several ranks asks for, what is wrong with it, and whether all ranks ask
 * for the same. Moves no elements but those of a result that is there. */
#include "distributed.h"
#include "../../call/schema.h"

static const char *const distributed_names[] = {
    "none",           "broadcast",  "all_reduce", "reduce", "all_gather",
    "reduce_scatter", "all_to_all", "send",       "recv",   "barrier"};

/* --- the call --------------------------------------------------------------------------------- */

static void distributed_of(tn_collective *c, tn_collective_kind kind, tn_tensor *input,
                           tn_tensor *output, int64_t peer, int32_t op) {
    c->kind = kind;
    c->input = input;
    c->output = output;
    c->peer = peer < INT32_MIN || peer > INT32_MAX ? INT32_MIN : (int32_t)peer;
    c->op = op;
}

/* By the number of the row, so that a trimmed program needs no row for its name. */
static void distributed_read(tn_collective *c, const tn_frame *f) {
    const char *name = f->row->name + strlen("distributed_");
    int kind = TN_BARRIER;
    while (kind && strcmp(name, distributed_names[kind]) != 0) kind--;
    c->kind = (tn_collective_kind)kind;
#define READ(row, input, output, peer, op)                                    \
    {                                                                         \
        TN_ARGS(distributed_##row, a, f);                                     \
        distributed_of(c, (tn_collective_kind)kind, input, output, peer, op); \
        break;                                                                \
    }
    switch ((tn_collective_kind)kind) {
    case TN_BROADCAST: READ(broadcast, a->tensor, a->tensor, a->src, 0)
    case TN_ALL_REDUCE: READ(all_reduce, a->tensor, a->tensor, -1, (int32_t)a->op)
    case TN_REDUCE: READ(reduce, a->tensor, a->tensor, a->dst, (int32_t)a->op)
    case TN_ALL_GATHER: READ(all_gather, a->input, a->output, -1, 0)
    case TN_REDUCE_SCATTER: READ(reduce_scatter, a->input, a->output, -1, (int32_t)a->op)
    case TN_ALL_TO_ALL: READ(all_to_all, a->input, a->output, -1, 0)
    case TN_SEND: READ(send, a->tensor, NULL, a->dst, 0)
    case TN_RECV: READ(recv, NULL, a->tensor, a->src, 0)
    case TN_BARRIER: break;
    }
#undef READ
}

TN_API void tn_collective_of(tn_collective *c, const tn_frame *f) {
    memset(c, 0, sizeof *c);
    c->peer = -1;
    c->group = f->block->group;
    c->rank = tn_group_rank(c->group);
    c->size = tn_group_size(c->group);
    distributed_read(c, f);
}

/* --- what is wrong with it -------------------------------------------------------------------- */

static bool distributed_is_complex(const tn_tensor *t) {
    return tni_dtype(t->dtype)->category == TNI_CAT_COMPLEX;
}

/* Of a call that adds: whether its op is one for the dtype. */
static tn_code distributed_op_fault(const tn_collective *c, char *why, size_t room) {
    const tni_dtype_info *d = tni_dtype(c->input->dtype);
    const char *op = "bits";
    if (!d->computes)
        op = "arithmetic";
    else if (c->op >= TN_REDUCE_OP_BAND) {
        if (d->category <= TNI_CAT_INT) return TN_OK;
    } else if (distributed_is_complex(c->input) && c->op >= TN_REDUCE_OP_PRODUCT)
        op = c->op == TN_REDUCE_OP_PRODUCT ? "product" : c->op == TN_REDUCE_OP_MIN ? "min" : "max";
    else if (d->category <= TNI_CAT_INT && c->op == TN_REDUCE_OP_AVG)
        op = "avg";
    else
        return TN_OK;
    snprintf(why, room, "reducing %s tensors does not support %s", d->text, op);
    return TN_TYPE;
}

/* Of a call with an output of its own: sizes and dtypes. */
static tn_code distributed_shape_fault(const tn_collective *c, char *why, size_t room) {
    const tn_tensor *in = c->input, *out = c->output;
    const char *how = NULL;
    int64_t all;
    if (in->dtype != out->dtype) {
        snprintf(why, room, "output tensor must have the same type as input tensor, got %s and %s",
                 tni_dtype(out->dtype)->text, tni_dtype(in->dtype)->text);
        return TN_TYPE;
    }
    if (c->kind == TN_ALL_GATHER && (!tni_mul(in->numel, c->size, &all) || all != out->numel))
        how = "output tensor size must be equal to world size times input tensor size";
    if (c->kind == TN_REDUCE_SCATTER && (!tni_mul(out->numel, c->size, &all) || all != in->numel))
        how = "input tensor must be the same size as output size times world size";
    if (c->kind == TN_ALL_TO_ALL && in->numel != out->numel)
        how = "output tensor must be of the size of the input tensor";
    else if (c->kind == TN_ALL_TO_ALL && (in->ndim ? in->size[0] : 1) % c->size)
        how = "tensor's dim 0 does not divide equally across group size";
    if (!how) return TN_OK;
    snprintf(why, room, "%s (%d)", how, (int)c->size);
    return TN_INVALID;
}

/* Whether the call names a rank that there is. */
static tn_code distributed_peer_fault(const tn_collective *c, char *why, size_t room) {
    const bool apart = c->kind == TN_SEND || c->kind == TN_RECV;
    const bool named = apart || c->kind == TN_BROADCAST || c->kind == TN_REDUCE;
    if (!named || (apart && c->peer == -1)) return TN_OK;
    if (c->peer < 0 || c->peer >= c->size)
        snprintf(why, room, "the group has no rank %d: it has %d", (int)c->peer, (int)c->size);
    else if (apart && c->peer == c->rank)
        snprintf(why, room, "%s rank must not be the rank of the caller, %d",
                 c->kind == TN_SEND ? "destination" : "source", (int)c->rank);
    else
        return TN_OK;
    return TN_INVALID;
}

TN_PRIV tn_code tni_distributed_fault(const tn_frame *f, const tn_collective *c, char *why,
                                      size_t room) {
    const bool adds =
        c->kind == TN_ALL_REDUCE || c->kind == TN_REDUCE || c->kind == TN_REDUCE_SCATTER;
    tn_code code = distributed_peer_fault(c, why, room);
    if (!code && f->recording) {
        snprintf(why, room,
                 "a tensor requires grad, and what ranks exchange has none: use no-grad "
                 "mode or detach it");
        code = TN_AUTOGRAD;
    }
    if (!code && adds) code = distributed_op_fault(c, why, room);
    if (!code &&
        (c->kind == TN_ALL_GATHER || c->kind == TN_REDUCE_SCATTER || c->kind == TN_ALL_TO_ALL))
        code = distributed_shape_fault(c, why, room);
    return code;
}

/* --- agreement -------------------------------------------------------------------------------- */

TN_PRIV void tni_distributed_describe(distributed_word *w, const tn_collective *c) {
    const tn_tensor *t = c->input ? c->input : c->output;
    memset(w, 0, sizeof *w);
    w->kind = (int32_t)c->kind;
    w->op = c->op;
    w->peer = c->peer;
    if (!t) return;
    w->dtype = t->dtype;
    w->ndim = t->ndim;
    memcpy(w->size, t->size, (size_t)t->ndim * sizeof *w->size);
}

TN_PRIV const char *tni_distributed_text(char *text, size_t room, const distributed_word *w) {
    const char *const *ops = NULL;
    char shape[192], option[48] = "";
    for (const tni_enum *e = tni_enums(); e->name; e++)
        if (!strcmp(e->name, "ReduceOp")) ops = e->words;
    if (w->op) snprintf(option, sizeof option, "(op=%s%s", ops[w->op - 1], w->peer < 0 ? ")" : "");
    if (w->peer >= 0)
        snprintf(option + strlen(option), sizeof option - strlen(option), "%s%s=%d)",
                 w->op ? ", " : "(", w->kind == TN_BROADCAST ? "src" : "dst", (int)w->peer);
    if (w->kind == TN_BARRIER)
        snprintf(text, room, "barrier");
    else
        snprintf(text, room, "%s%s of %s %s", distributed_names[w->kind], option,
                 tni_dtype(w->dtype)->text, tni_shape_text(shape, sizeof shape, w->ndim, w->size));
    return text;
}

/* All words are there: whether they say the same. The error is the same on all ranks. */
static bool distributed_agrees(tn_frame *f, const tn_collective *c, const distributed_word *word) {
    char a[320], b[320];
    for (int32_t r = 0; r < c->size; r++)
        if (word[r].failed && r != c->rank)
            return tn_fail(f, TN_INVALID, "rank %d of %d: rank %d failed: %s", (int)c->rank,
                           (int)c->size, (int)r, word[r].why);
    for (int32_t r = 1; r < c->size; r++) {
        if (!memcmp(&word[r], &word[0], sizeof *word)) continue;
        return tn_fail(f, TN_INVALID, "rank %d of %d: rank %d calls %s, but rank 0 calls %s",
                       (int)c->rank, (int)c->size, (int)r,
                       tni_distributed_text(a, sizeof a, &word[r]),
                       tni_distributed_text(b, sizeof b, &word[0]));
    }
    return true;
}

/* Shows the other ranks this one's word, and it theirs. */
static bool distributed_show(tn_frame *f, const tn_collective *c, const distributed_word *mine) {
    return tni_group_share(f->block, c->group, mine, c->group->words, (int64_t)sizeof *mine) &&
           distributed_agrees(f, c, (const distributed_word *)c->group->words);
}

TN_PRIV bool tni_distributed_meet(tn_frame *f, const tn_collective *c, bool memory) {
    distributed_word mine;
    tni_distributed_describe(&mine, c);
    if (!memory) {
        mine.failed = 1;
        snprintf(mine.why, sizeof mine.why, "out of memory");
    }
    if (!distributed_show(f, c, &mine) || !memory) return false;
    f->work.stop.request = NULL; /* from here on the others count on this rank */
    return true;
}

TN_API bool tn_collective_meet(tn_frame *f, const tn_collective *c) {
    return c->size == 1 || tni_distributed_meet(f, c, true);
}

TN_API bool tn_collective_share(tn_frame *f, const tn_collective *c, const void *mine, void *all,
                                int64_t bytes) {
    if (c->size > 1) return tni_group_share(f->block, c->group, mine, all, bytes);
    memcpy(all, mine, (size_t)bytes);
    return true;
}

TN_PRIV bool tni_distributed_check(tn_frame *f) {
    distributed_word word;
    tn_collective c;
    tn_code code;
    tn_collective_of(&c, f);
    code = tni_distributed_fault(f, &c, word.why, sizeof word.why);
    if (code) {
        tn_fail(f, code, "%s", word.why);
        if (c.size == 1 || f->meta) return false;
        /* The others wait in this call for what this rank has to say. */
        tni_distributed_describe(&word, &c);
        word.failed = 1;
        tni_distributed_fault(f, &c, word.why, sizeof word.why);
        distributed_show(f, &c, &word);
        return false;
    }
    if ((c.kind == TN_BROADCAST && c.rank == c.peer) || (c.kind == TN_REDUCE && c.rank != c.peer))
        f->unwritten = 1;
    return c.size > 1 || tni_dense_scratch(f, c.input);
}

/* --- the end ---------------------------------------------------------------------------------- */

TN_PRIV void tni_distributed_run(tn_frame *f) {
    TN_NOTE(distributed_note, note, f);
    char *room = (char *)f->scratch;
    int64_t stride[TN_MAX_DIMS];
    tni_storage storage;
    tn_collective c;
    tn_tensor from;
    tn_collective_of(&c, f);
    /* One rank: the output is the input, in other sizes. */
    if (c.size == 1) {
        const bool other = c.input && c.output && c.output != c.input;
        note->result = other ? tni_dense(f, c.input, &room) : NULL;
    }
    if (note->result && c.output && c.output->numel) {
        memset(&storage, 0, sizeof storage);
        storage.data = (void *)(uintptr_t)note->result;
        tni_row_major(c.output->ndim, c.output->size, stride);
        tni_stack_view(&from, c.output, c.output->ndim, c.output->size, stride, 0);
        from.storage = &storage;
        tni_copy_elements(f->block, c.output, &from);
    }
    if (c.group) tni_group_room_free(f->block, c.group);
}
