/* replayed.c - what a replay does to gradients: every differentiable row is called while it is
 * recorded, its inputs are rewritten, the recording is run again; then backward goes from the
 * results of the first call.
 *
 *     replayed [rows.h]
 *
 * A graph is that of the first run, whose values its gradient reads: it gives the bits of the same
 * call that nobody replayed, or is refused since something that it reads was modified. Where it
 * reads inputs alone and none was rewritten, it is not refused. Rows that draw numbers draw others
 * in the replay. */
#include "../rows.h"
#include "record.h"

#include <stdio.h>

/* How a call comes by its operands, and what changes before the replay. */
enum { LEAVES = 0, MADE, INPLACE, INPLACE_MADE, OPERANDS };
enum { NOTHING = 0, FLOATS, ONE, OTHERS, CHANGES };
static const char *const operand_names[] = {"of leaves", "of what the recording makes", "in place",
                                            "in place of what the recording makes"};
static const char *const change_names[] = {"nothing", "all leaves", "one leaf", "what is no leaf"};

typedef struct run {
    sample s;
    int operands, n, nleaves;
    tn_tensor *leaf[SAMPLE_TENSORS], *out[RECORD_OUTS];
} run;

static int64_t passed, failed, right, refused, unused;

static bool wrong(const run *u, int change, const char *what, const char *error) {
    failed++;
    printf("FAILED replayed %s [%s] %s, rewritten: %s: %s %s\n", u->s.row->name, u->s.text,
           operand_names[u->operands], change_names[change], what, error);
    return false;
}

/* --- a call ----------------------------------------------------------------------------------- */

static bool is_leaf(const sample *s, int t) {
    return tni_dtype(s->tensor[t]->dtype)->category >= TNI_CAT_FLOAT && !sample_is_written(s, t);
}

/* Operands that are made of the leaves and stand for them. */
static void make_operands(sample *s) {
    for (int t = 0; t < s->ntensors; t++)
        if (is_leaf(s, t))
            sample_replace(s, s->tensor[t], tnp_mul_scalar(s->tensor[t], tn_float(1)));
}
static bool call(run *u, const tn_row *row, int number, int operands, tn_recording **recording) {
    sample *s = &u->s;
    const bool inplace = operands >= INPLACE;
    bool ok;
    u->operands = operands, u->n = u->nleaves = 0;
    if (!sample_make(s, row, number, TN_F32, false)) return false;
    for (int t = 0; t < s->ntensors; t++)
        if (is_leaf(s, t)) u->leaf[u->nleaves++] = tn_requires_grad(s->tensor[t]);
    tn_manual_seed(7);
    if (operands == INPLACE) make_operands(s);
    if (recording && !tn_record_begin()) return false;
    if (operands == MADE || operands == INPLACE_MADE) make_operands(s);
    ok = sample_call(s, inplace ? TN_IN_PLACE : TN_PLAIN, u->out, RECORD_OUTS, &u->n);
    if (recording && !(*recording = tn_record_end())) return false;
    return ok;
}

/* Few bits each: sums of them are exact in any order, as a view's whose base was rewritten. */
static tn_tensor *weights(const tn_tensor *out, int k) {
    tn_tensor *w = tni_new(tni_here(), out->dtype, out->ndim, out->size);
    for (int64_t i = 0; i < w->numel; i++) {
        const double at = (double)(sample_hash((uint64_t)(1000 * k + i)) & 15) - 7.5;
        tni_element_set((char *)w->storage->data + i * tni_dtype_size(w), w->dtype,
                        tn_float(at / 8));
    }
    return w;
}

/* The gradients of the leaves by the weighed results, as bytes. graph: by operators, not fused. */
static bool backward(run *u, bool graph, record *to) {
    tn_tensor *roots[RECORD_OUTS], *seeds[RECORD_OUTS], *found[SAMPLE_TENSORS];
    tn_grads_options o = {seeds, true, graph, true};
    int n = 0;
    to->n = 0;
    for (int k = 0; k < u->n; k++) {
        tn_tensor *out = u->out[k];
        if (!out || !tn_needs_grad(out)) continue;
        roots[n] = out, seeds[n++] = weights(out, k);
    }
    if (!n || !u->nleaves) return false;
    if (!tn_grads(tn_tensors_of(roots, n), tn_tensors_of(u->leaf, u->nleaves), found, &o))
        return false;
    for (int i = 0; i < u->nleaves; i++) record_put(to, found[i]);
    return true;
}

/* --- other values ----------------------------------------------------------------------------- */

/* The elements one place on, which are as valid where they are; of one element three quarters. */
static void rewrite(tn_tensor *t) {
    const bool was = tn_set_grad_mode(false);
    tn_tensor *by = tnp_clone(t, (tn_memory_format)0);
    const size_t each = (size_t)tni_dtype_size(t), bytes = (size_t)t->numel * each;
    if (t->numel > 1) {
        memcpy((char *)tni_bytes_at(by), tni_bytes_at(t) + bytes - each, each);
        memcpy((char *)tni_bytes_at(by) + each, tni_bytes_at(t), bytes - each);
    } else if (tni_dtype(t->dtype)->category >= TNI_CAT_FLOAT)
        by = tnp_mul_scalar(by, tn_float(0.75));
    tnp_copy_(t, by);
    tn_set_grad_mode(was);
}
static void change_inputs(run *u, int change) {
    if (change == FLOATS)
        for (int i = 0; i < u->nleaves; i++) rewrite(u->leaf[i]);
    if (change == ONE) rewrite(u->leaf[u->nleaves - 1]);
    for (int t = 0; t < u->s.ntensors && change == OTHERS; t++)
        if (!is_leaf(&u->s, t)) rewrite(u->s.tensor[t]);
}

/* --- a row ------------------------------------------------------------------------------------ */

/* Whether a gradient of the row reads a result, or something that is made beside them. */
static bool reads_results(const tn_row *row) {
    if (row->compose) return true;
    for (int i = 0; row->gen->needs && i <= row->gen->nfixed; i++)
        if (i < row->gen->nfixed + ((row->gen->props & TN_PROP_LISTS) != 0) &&
            row->gen->needs[i] >> 32)
            return true;
    return false;
}

static bool compare(run *u, int change, bool graph, const record *want, record *got) {
    tn_error_info e;
    if (backward(u, graph, got)) {
        if (!record_same(want, got))
            return wrong(u, change, "the gradient is not that of the first run", "");
        right++;
        return true;
    }
    if (!tn_error_take(&e) || e.code != TN_AUTOGRAD || !strstr(e.message, "modified"))
        return wrong(u, change, "backward fails:", e.message);
    if (change == NOTHING && u->operands == LEAVES && !reads_results(u->s.row))
        return wrong(u, change, "is refused, but reads nothing that was rewritten:", e.message);
    refused++;
    return true;
}

static void check(const tn_row *row, int number, int operands, int change, bool graph) {
    static record want, got;
    static run first, u;
    tn_recording *r = NULL;
    if (!want.at) want = record_new(1 << 22), got = record_new(1 << 22);
    if (!call(&first, row, number, operands, NULL) || !backward(&first, graph, &want)) {
        unused++;
        tn_error_take(NULL);
        return;
    }
    if (!call(&u, row, number, operands, &r)) {
        wrong(&u, change, "cannot be recorded", "");
    } else {
        change_inputs(&u, change);
        tn_replay(r);
        tn_error_take(NULL); /* where a size depends on values */
        passed += compare(&u, change, graph, &want, &got);
    }
    tn_recording_free(r);
}

int main(int argc, char **argv) {
    int rows = 0, saving = 0;
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    if (!rows_begin(argc, argv, tables)) return 1;
    tn_set_threads(1); /* many very small calls */
    for (int64_t r = 0; r < tn_row_count() && failed < 400; r++) {
        const tn_row *row = tn_row_at(r);
        const int64_t before = passed;
        if (!rows_take(0, r)) continue;
        if ((!row->grad && !row->compose) || row->grad == tn_grad_zero) continue;
        for (int i = 0; i < sample_count(row); i++)
            for (int k = 0; k < OPERANDS * CHANGES * 2; k++) {
                const int operands = k / 2 / CHANGES;
                if (operands >= INPLACE && !(row->forms & TN_INPLACE)) continue;
                TN_SCOPE {
                    check(row, i, operands, k / 2 % CHANGES, k & 1);
                }
                tn_error_take(NULL);
            }
        rows += passed > before;
        saving += passed > before && row->gen->nsaves;
    }
    printf("promise 13: %d differentiable rows (%d save what is no result), replayed before "
           "backward: %lld gradients as without, %lld refused, 0 of rewritten values\n",
           rows, saving, (long long)right, (long long)refused);
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
