/* rows.c - every row on a device (tested.h), by its own samples: no row is named here.
 *
 *     rows [row=NAME ... | rows=N]    TN_STOP=1: the first failure ends it; TN_CAPTURED=1: captures
 *                                     on other devices than the null one, too
 *
 * device  the bits, shapes, strides and devices of the CPU: called plainly, in place, with out=,
 *         with inputs of other layouts, with elements that are equal, NaN or at the ends of
 *         integers, with its gradients and their gradients, captured and then replayed; or an
 *         error that says that the row, or a row that it calls, has no kernel. What lies between
 *         and around the elements of a layout is NaN and stays as it is
 * bare    on a device that has kernels for expressions alone, the same bits or an error that says
 *         so; with the fallback the same bits, or an error that says why not
 *
 * Prints by which way each row came: kernel, expression, moves, view, composed; and which rows have
 * no kernel on the device and on the bare one. */
#include "../../src/api/ops.h"
#include "../../src/call/call.h"
#include "../ops/sample.h"
#include "../rows.h"
#include "tested.h"

#include <signal.h>
#include <unistd.h>

enum { OUTS = 40 };
enum { WAY_VIEW, WAY_MOVES, WAY_COMPOSED, WAY_EXPRESSION, WAY_KERNEL, WAYS };

static int passed, failed;
static bool own_kernels;        /* of the device: not those of the CPU on other memory */
static const tn_row *under_way; /* for what crashes */
static char under_way_text[400];

static void crashed(int number) {
    char text[600];
    int n =
        snprintf(text, sizeof text,
                 "FAILED %s [%s]: signal %d: memory of a device was read or written by the host\n",
                 under_way ? under_way->name : "?", under_way_text, number);
    if (write(1, text, (size_t)n) < 0) _exit(4);
    _exit(3);
}

static bool report(bool ok, const sample *s, const char *what) {
    tn_error_info e;
    if (ok) {
        passed++;
        return true;
    }
    failed++;
    printf("FAILED %s [%s] %s: %s\n", s->row->name, s->text, tn_dtype_name(s->dtype), what);
    if (tn_error_take(&e)) printf("    %s: %s\n", tn_code_name(e.code), e.message);
    fflush(stdout);
    if (getenv("TN_STOP")) exit(1);
    return false;
}

/* The pending error's text, "" without; takes it. */
static const char *no_error(void) {
    static char text[600];
    tn_error_info e;
    text[0] = 0;
    if (tn_error_take(&e)) snprintf(text, sizeof text, "%s", e.message);
    return text;
}

/* --- comparing -------------------------------------------------------------------------------- */

/* Same bits, but for the payload of NaN. */
static bool same_element(const char *a, const char *b, int dtype) {
    tn_scalar x, y;
    if (memcmp(a, b, tni_dtype(dtype)->bytes) == 0) return true;
    x = tni_element(a, dtype);
    y = tni_element(b, dtype);
    return x.kind >= TN_KIND_FLOAT && x.real != x.real && y.real != y.real;
}

/* got, of a device, against want, of the CPU: dtype, shape and elements. */
static bool same_bits(tn_tensor *want, tn_tensor *got, tn_device_id device) {
    tn_tensor *a, *b;
    if (!want || !got) return want == got;
    if (got->device != device || !(got->flags & TNI_DEVICE) || tn_data(got)) return false;
    if (want->dtype != got->dtype || !tni_same_shape(want, got)) return false;
    a = tnp_clone(want, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
    b = tni_device_down(tni_here(), got);
    if (!a || !b) return false;
    for (int64_t i = 0; i < a->numel; i++)
        if (!same_element(tni_bytes_at(a) + i * tni_dtype_size(a),
                          tni_bytes_at(b) + i * tni_dtype_size(b), a->dtype))
            return false;
    return true;
}

static bool same_strides(const tn_tensor *a, const tn_tensor *b) {
    for (int d = 0; a && b && d < a->ndim; d++)
        if (a->size[d] > 1 && a->numel && a->stride[d] != b->stride[d]) return false;
    return true;
}

/* --- samples on a device ---------------------------------------------------------------------- */

static int way_of(const tn_row *row) {
    if (row->compose) return WAY_COMPOSED;
    if (row->run == tni_run_nothing) return WAY_VIEW;
    if (row->forms & TN_MOVES) return WAY_MOVES;
    return row->rules ? WAY_EXPRESSION : WAY_KERNEL;
}

/* Whether the row says where its result lies. */
static bool has_device(const tn_row *row) {
    for (int i = 0; i < row->gen->nparam; i++)
        if (row->gen->param[i].type == TN_T_DEVICE) return true;
    return false;
}

static tn_tensor *placed_in(tn_tensor *flat, const tn_tensor *as) {
    tn_tensor *v = tni_view_of(tni_here(), flat, as->ndim, as->size, as->stride, as->offset, true);
    if (v) v->edge_version = v->storage->version;
    return v;
}

/* t on the device in the layout that it has here, in memory that is NaN (all ones) around it. */
static tn_tensor *laid_down(tn_tensor *t, tn_device_id device) {
    const int64_t n = t->storage->bytes / tni_dtype_size(t);
    tn_tensor *flat = tni_new(tni_here(), t->dtype, 1, &n), *here = NULL;
    if (flat && n) memset(tni_bytes_at(flat), 0xff, (size_t)(n * tni_dtype_size(t)));
    if (!flat || !(here = placed_in(flat, t))) return NULL;
    tni_copy_elements(tni_here(), here, t);
    flat = tnp_to(flat, device, TN_NO_DTYPE, false, false);
    return flat ? placed_in(flat, t) : NULL;
}

/* Whether the memory around t, of laid_down, is as it was. */
static bool kept_around(tn_tensor *t) {
    tn_tensor *flat = t->base ? tni_device_down(tni_here(), t->base) : NULL, *own, *nan;
    if (!flat || !flat->numel) return true;
    own = placed_in(flat, t);
    nan = tni_new(tni_here(), t->dtype, t->ndim, t->size);
    if (!own || !nan) return false;
    memset(tni_bytes_at(nan), 0xff, (size_t)(nan->numel * tni_dtype_size(nan)));
    tni_copy_elements(tni_here(), own, nan);
    for (int64_t i = 0; i < flat->numel * tni_dtype_size(flat); i++)
        if (tni_bytes_at(flat)[i] != -1) return false;
    return true;
}
static bool all_kept_around(const sample *s) {
    for (int t = 0; t < s->ntensors; t++)
        if (!kept_around(s->tensor[t])) return false;
    return true;
}

/* The tensors of s on the device, in their layout; a row without tensors gets the option. */
static bool to_device(sample *s, tn_device_id device, bool laid) {
    for (int t = 0; t < s->ntensors; t++) {
        tn_tensor *by = laid ? laid_down(s->tensor[t], device)
                             : tnp_to(s->tensor[t], device, TN_NO_DTYPE, false, false);
        if (!by) return false;
        sample_replace(s, s->tensor[t], by);
    }
    if (s->ntensors || s->nvalues == SAMPLE_VALUES) return true;
    memset(&s->value[s->nvalues], 0, sizeof s->value[0]);
    s->value[s->nvalues].name = "device";
    s->value[s->nvalues].type = TN_T_DEVICE;
    s->value[s->nvalues++].as.device = device;
    return true;
}

/* Sample i, in a layout, on the CPU and on the device. */
static bool make_both(sample *cpu, sample *dev, const tn_row *row, int i, tn_dtype dtype,
                      int layout, tn_device_id device) {
    under_way = row;
    if (!sample_make(cpu, row, i, dtype, false) || !sample_make(dev, row, i, dtype, false))
        return false;
    memcpy(under_way_text, cpu->text, sizeof under_way_text);
    if (!cpu->ntensors && !has_device(row)) return false;
    if (layout && (!sample_relayout(cpu, layout) || !sample_relayout(dev, layout))) return false;
    return to_device(dev, device, layout != 0);
}

static bool seeded_call(sample *s, unsigned how, tn_tensor **out, int *n) {
    tn_manual_seed(7);
    *n = 0;
    return sample_call(s, how, out, OUTS, n);
}

/* --- rows without a kernel -------------------------------------------------------------------- */

static int nmissing;

/* Whether the pending error says that some row has no kernel; then it is taken, and the row of the
 * sample is listed once. */
static bool is_missing(const tn_row *row) {
    static const tn_row *last;
    tn_error_info e;
    char text[200];
    if (!tn_error_peek(&e)) return false;
    if (!strncmp(row->name, "distributed_", 12) && /* what nccl.cu refuses */
        (strstr(e.message, "NCCL ") || strstr(e.message, "of a device must be contiguous")))
        return no_error(), true;
    if (!strstr(e.message, " has no kernel on ")) return false;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(e.message, ";"), e.message);
    no_error();
    if (last != row) {
        nmissing++;
        printf("missing %s: %s\n", row->name, text);
    }
    last = row;
    return true;
}

/* --- what is compared ------------------------------------------------------------------------- */

/* Rows with one answer for pairs of elements: tensors that are alike but for one element, which is
 * first, last, or where grids of few blocks go round. */
static void check_apart(sample *cpu, sample *dev, tn_device_id device) {
    tn_tensor *x = cpu->tensor[0], *y = cpu->tensor[1], *want[OUTS], *got[OUTS];
    const int64_t bytes = tni_dtype_size(x), last = x->numel - 1;
    int n, m;
    for (int64_t at = 0; at <= last; at = at < last && at + 256 > last ? last : at + 256) {
        char *element = tni_bytes_at(y) + at * bytes;
        memcpy(tni_bytes_at(y), tni_bytes_at(x), (size_t)(x->numel * bytes));
        if (x->dtype == TN_BOOL)
            *element ^= 1;
        else
            element[bytes - 1] ^= 0x40;
        sample_replace(dev, dev->tensor[1], tnp_to(y, device, TN_NO_DTYPE, false, true));
        report(seeded_call(cpu, TN_PLAIN, want, &n) && seeded_call(dev, TN_PLAIN, got, &m) &&
                   same_bits(want[0], got[0], device),
               dev, "one element apart: another answer than on the CPU");
    }
}
static bool compares_all(const sample *s, const tn_tensor *out) {
    const tn_tensor *x = s->tensor[0], *y = s->tensor[1];
    return s->ntensors == 2 && out->dtype == TN_BOOL && !out->ndim && x->dtype == y->dtype &&
           tni_same_shape(x, y);
}

static bool check_plain(const tn_row *row, int i, tn_dtype dtype, int layout, tn_device_id device) {
    sample cpu, dev;
    tn_tensor *want[OUTS], *got[OUTS];
    int n = 0, m = 0;
    bool ok;
    if (!make_both(&cpu, &dev, row, i, dtype, layout, device)) return no_error(), false;
    if (!seeded_call(&cpu, TN_PLAIN, want, &n)) return no_error(), false;
    ok = seeded_call(&dev, TN_PLAIN, got, &m);
    if (!ok && is_missing(row)) return false;
    if (!report(ok && n == m, &dev, "fails on the device")) return false;
    report(tested_foreign() == 0, &dev, "a kernel got tensors of another place");
    for (int k = 0; ok && k < n; k++) ok = same_bits(want[k], got[k], device);
    if (!report(ok, &dev, "other bits, shape, dtype or device than on the CPU")) return false;
    for (int k = 0; ok && k < n; k++) ok = same_strides(want[k], got[k]);
    report(ok, &dev, "other strides than on the CPU");
    report(!layout || all_kept_around(&dev), &dev, "writes around its arguments");
    for (int t = 0; ok && t < dev.ntensors; t++)
        ok = !sample_is_written(&dev, t) || same_bits(cpu.tensor[t], dev.tensor[t], device);
    if (ok && n == 1 && !layout && !sample_grid && compares_all(&cpu, want[0]))
        check_apart(&cpu, &dev, device);
    return report(ok, &dev, "an argument that is written has other bits than on the CPU");
}

static void check_inplace(const tn_row *row, int i, tn_dtype dtype, int layout,
                          tn_device_id device) {
    sample cpu, dev;
    tn_tensor *want[OUTS], *got[OUTS];
    int n, m;
    bool ok;
    if (!(row->forms & TN_INPLACE) || !make_both(&cpu, &dev, row, i, dtype, layout, device) ||
        cpu.value[0].type != TN_T_TENSOR || !seeded_call(&cpu, TN_IN_PLACE, want, &n)) {
        no_error();
        return;
    }
    ok = seeded_call(&dev, TN_IN_PLACE, got, &m) && got[0] == dev.value[0].as.tensor;
    if (!ok && is_missing(row)) return;
    report(ok && same_bits(want[0], got[0], device), &dev, "in place: other bits than on the CPU");
    report(!layout || all_kept_around(&dev), &dev, "in place: writes around its arguments");
}

/* Gives a sample `out`: zeros of the results' shapes and dtypes on a device; other: column-major,
 * and of a wider dtype where `wider`. */
static bool give_out(sample *s, tn_tensor *const *want, int n, tn_tensor **given,
                     tn_device_id device, bool other, bool wider) {
    for (int k = 0; k < n; k++) {
        if (!want[k]) return false;
        given[k] = tnp_to(tnp_zeros_like(want[k], TN_NO_DTYPE, TN_NO_DEVICE), device,
                          wider && want[k]->dtype == TN_F32 ? TN_F64 : TN_NO_DTYPE, false, true);
        if (other && given[k] && given[k]->ndim == 2)
            given[k] = tnp_t(tnp_contiguous(tnp_t(given[k])));
        if (!given[k]) return false;
    }
    tn_value *v = &s->value[s->nvalues++];
    memset(v, 0, sizeof *v);
    v->name = "out";
    v->type = n == 1 ? TN_T_TENSOR : TN_T_TENSORS;
    if (n == 1)
        v->as.tensor = given[0];
    else
        v->as.tensors = tn_tensors_of(given, n);
    return true;
}

/* out= tensors of the results' dtype, then of a wider one and column-major, which is written
 * through a temporary of the device, as on the CPU. Rows that refuse the wider one get their own
 * dtype. */
static void check_out(const tn_row *row, int i, tn_dtype dtype, tn_device_id device) {
    sample cpu, dev;
    tn_tensor *plain[OUTS], *want[OUTS], *got[OUTS], *given[2][OUTS];
    int n, m;
    if (!(row->forms & TN_OUT)) return;
    bool wider = true;
    for (int other = 0; other < 2; other++) {
        const bool wide = other && wider;
        bool ok =
            make_both(&cpu, &dev, row, i, dtype, 0, device) && dev.nvalues < SAMPLE_VALUES &&
            seeded_call(&cpu, TN_PLAIN, plain, &n) && n &&
            make_both(&cpu, &dev, row, i, dtype, 0, device) && /* arguments that are written */
            give_out(&cpu, plain, n, given[0], TN_CPU, other, wide) &&
            give_out(&dev, plain, n, given[1], device, other, wide);
        if (!ok) {
            no_error();
            return;
        }
        if (!seeded_call(&cpu, TN_PLAIN, want, &n)) {
            const char *why = no_error();
            if (!wide || !strstr(why, "Expected out tensor to have dtype")) return;
            wider = false;
            other--;
            continue;
        }
        ok = seeded_call(&dev, TN_PLAIN, got, &m);
        if (!ok && strstr(no_error(), "depends on data")) return;
        for (int k = 0; ok && k < n; k++) {
            ok = got[k] == given[1][k] && same_bits(want[k], got[k], device);
            if (want[k]->dtype == plain[k]->dtype) ok = ok && same_bits(plain[k], got[k], device);
        }
        report(ok, &dev, "out=: other bits than on the CPU");
        report(tested_foreign() == 0, &dev, "out=: a kernel got tensors of another place");
    }
}

/* The gradients of sum(first gradients) by the tensors under test. */
static bool second_grads(sample *s, tn_tensor **grads) {
    tn_tensor *out[OUTS], *roots[OUTS], *inputs[SAMPLE_TENSORS], *first[SAMPLE_TENSORS],
        *seeds[OUTS], *second[SAMPLE_TENSORS];
    tn_grads_options options = {seeds, false, true, true};
    int n, nroots = 0, ninputs = 0, where[SAMPLE_TENSORS];
    for (int t = 0; t < s->ntensors; t++) {
        grads[t] = NULL;
        if (!s->under_test[t]) continue;
        s->tensor[t]->flags |= TNI_REQUIRES | TNI_LEAF;
        where[ninputs] = t;
        inputs[ninputs++] = s->tensor[t];
    }
    if (!seeded_call(s, TN_PLAIN, out, &n)) return false;
    for (int k = 0; k < n; k++)
        if (out[k] && out[k]->flags & TNI_REQUIRES) {
            roots[nroots] = out[k];
            seeds[nroots++] = tnp_ones_like(out[k], TN_NO_DTYPE, TN_NO_DEVICE);
        }
    if (!nroots ||
        !tn_grads(tn_tensors_of(roots, nroots), tn_tensors_of(inputs, ninputs), first, &options))
        return false;
    nroots = 0;
    for (int i = 0; i < ninputs; i++)
        if (first[i] && first[i]->flags & TNI_REQUIRES) {
            roots[nroots] = first[i];
            seeds[nroots++] = tnp_ones_like(first[i], TN_NO_DTYPE, TN_NO_DEVICE);
        }
    options.create_graph = false;
    if (!nroots ||
        !tn_grads(tn_tensors_of(roots, nroots), tn_tensors_of(inputs, ninputs), second, &options))
        return false;
    for (int i = 0; i < ninputs; i++) grads[where[i]] = second[i];
    return true;
}

static void check_grads(const tn_row *row, int i, tn_dtype dtype, tn_device_id device) {
    sample cpu, dev;
    tn_tensor *want[SAMPLE_TENSORS], *got[SAMPLE_TENSORS];
    if (row->grad == tn_grad_zero || (!row->grad && !row->compose)) return;
    for (int order = 0; order < 3; order++) {
        const unsigned how = order == 1 ? TN_IN_PLACE : TN_PLAIN;
        bool ok = order != 1 || row->forms & TN_INPLACE;
        ok = ok && make_both(&cpu, &dev, row, i, dtype, 0, device) &&
             (order != 1 || cpu.value[0].type == TN_T_TENSOR);
        ok = ok && (order == 2 ? second_grads(&cpu, want) : sample_grads(&cpu, how, want));
        no_error();
        if (!ok) continue; /* the CPU has none */
        ok = order == 2 ? second_grads(&dev, got) : sample_grads(&dev, how, got);
        if (!ok && is_missing(row)) continue;
        for (int t = 0; ok && t < cpu.ntensors; t++) ok = same_bits(want[t], got[t], device);
        report(ok, &dev,
               order == 0   ? "gradients: others than on the CPU"
               : order == 1 ? "gradients in place: others than on the CPU"
                            : "second gradients: others than on the CPU");
    }
}

/* Whether the pending error says that the host reads what is captured; then it is taken. */
static bool is_read(void) {
    tn_error_info e;
    if (!tn_error_peek(&e) || e.code != TN_UNSUPPORTED || !strstr(e.message, "captured"))
        return false;
    no_error();
    return true;
}
/* Nothing is left of what the first replay has made, but in views and what the call was given. */
static void spoil(const sample *s, tn_tensor **out, int n) {
    for (int k = 0; k < n; k++) {
        bool shared = !out[k] || out[k]->flags & (TNI_VIEW | TNI_REQUIRES);
        for (int t = 0; t < s->ntensors && !shared; t++)
            shared = out[k]->storage == s->tensor[t]->storage;
        if (!shared && tn_is_contiguous(out[k])) tnp_zero_(out[k]);
    }
}
/* Captured, and carried out by two replays, with its gradients or without. */
static void check_captured(const tn_row *row, int i, tn_dtype dtype, bool grads,
                           tn_device_id device) {
    sample cpu, dev;
    tn_tensor *want[OUTS], *got[OUTS];
    tn_recording *r;
    int n = 0, m = 0, replays = 2;
    bool ok = make_both(&cpu, &dev, row, i, dtype, 0, device) &&
              (grads ? sample_grads(&cpu, TN_PLAIN, want) : seeded_call(&cpu, TN_PLAIN, want, &n));
    no_error();
    if (!ok || !tn_capture_begin()) return;
    ok = grads ? sample_grads(&dev, TN_PLAIN, got) : seeded_call(&dev, TN_PLAIN, got, &m);
    r = tn_record_end();
    if (grads) n = m = cpu.ntensors;
    for (int t = 0; t < dev.ntensors; t++)
        if (sample_is_written(&dev, t)) replays = 1;
    for (int k = 0; ok && k < replays; k++) {
        tn_manual_seed(7);
        ok = tn_replay(r) && n == m;
        for (int j = 0; ok && j < n; j++) ok = same_bits(want[j], got[j], device);
        spoil(&dev, got, m);
    }
    tn_recording_free(r);
    if (!ok && (is_read() || is_missing(row))) return;
    report(ok, &dev,
           grads ? "gradients captured: others than on the CPU"
                 : "captured: other bits than on the CPU");
}

/* --- a device without kernels ----------------------------------------------------------------- */

/* The first sample on bare:0: true if it is refused without the fallback. */
static bool check_bare(const tn_row *row, tn_device_id device) {
    bool refused = false;
    for (int fallback = 0; fallback < 2; fallback++) {
        sample cpu, dev;
        tn_tensor *want[OUTS], *got[OUTS];
        const char *text;
        int n = 0, m = 0;
        bool ok = make_both(&cpu, &dev, row, 0, TN_F32, 0, device) &&
                  seeded_call(&cpu, TN_PLAIN, want, &n);
        no_error();
        if (!ok) return refused;
        tn_device_fallback(fallback);
        ok = seeded_call(&dev, TN_PLAIN, got, &m);
        tn_device_fallback(false);
        text = no_error();
        if (!ok) {
            const char *wants =
                fallback ? "does not run on copies" : " has no kernel on bare:0; copy";
            report(strstr(text, wants) != NULL, &dev, text);
            refused = refused || !fallback;
            if (fallback) printf("fallback refused: %s\n", row->name);
            continue;
        }
        for (int k = 0; ok && k < n; k++) ok = same_bits(want[k], got[k], device);
        report(ok && n == m, &dev, "bare: other bits than on the CPU");
    }
    return refused;
}

/* --- main ------------------------------------------------------------------------------------- */

/* Sample i in layouts, and with elements of which many are equal or at the ends of their range. */
static void check_forms(const tn_row *row, int i, int d, tn_dtype dtype, tn_device_id device) {
    static const int layouts[] = {SAMPLE_SLICED, SAMPLE_LAST, SAMPLE_MIXED};
    const int layout = layouts[(i + d) % 3];
    if (d == 0) check_plain(row, i, dtype, SAMPLE_TRANSPOSED, device);
    check_plain(row, i, dtype, layout, device);
    check_inplace(row, i, dtype, layout, device);
    for (int k = 0; k < 2; k++) {
        sample_grid = k ? SAMPLE_ENDS : 1 + (i + d) % 4;
        if (d < 2 || (k && own_kernels)) check_plain(row, i, dtype, 0, device);
        sample_grid = 0;
    }
}

/* Dtypes that every sample is made in, every one in deep runs, and, where a device has kernels of
 * its own, the first alone; each other sample has one of those in turn as well. */
enum { EACH_DTYPE = 2, DEEP_DTYPES = 5, DTYPES = 12 };
static const tn_dtype dtypes[DTYPES] = {TN_F32,  TN_I64, TN_BF16, TN_C64, TN_F64, TN_F16,
                                        TN_BOOL, TN_I32, TN_C128, TN_U8,  TN_I8,  TN_I16};
static bool takes_dtype(int i, int d, bool deep) {
    if (d >= DEEP_DTYPES && !own_kernels) return false;
    if (i == 0 || d < EACH_DTYPE || (deep && d < DEEP_DTYPES)) return true;
    return d == DEEP_DTYPES + i % (DTYPES - DEEP_DTYPES);
}

static void walk_row(const tn_row *row, tn_device_id device, bool deep) {
    const int count = sample_count(row);
    const bool captures = getenv("TN_CAPTURED") || !strcmp(tn_device_name(device), "null:0");
    for (int i = 0; i < count; i++)
        for (int d = 0; d < DTYPES; d++) {
            const int64_t mark = tn_scope_begin();
            if (takes_dtype(i, d, deep) && check_plain(row, i, dtypes[d], 0, device)) {
                check_inplace(row, i, dtypes[d], 0, device);
                check_out(row, i, dtypes[d], device);
                if (d == 0 || d == 3) check_grads(row, i, dtypes[d], device);
                for (int grads = 0; d == 0 && captures && grads < 2; grads++)
                    check_captured(row, i, dtypes[d], grads != 0, device);
                if (!sample_reads_memory(row) && !sample_draws(row))
                    check_forms(row, i, d, dtypes[d], device);
            }
            tn_scope_end(mark);
        }
}

int main(int argc, char **argv) {
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    int ways[WAYS] = {0}, refused = 0, rows = 0;
    tn_device_id device, bare;
    if (!rows_begin(argc, argv, tables)) return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGSEGV, crashed);
    signal(SIGBUS, crashed);
    if (!tested_begin(&device, &bare)) return 1;
    own_kernels = bare == TN_NO_DEVICE;
    for (int64_t r = 0; r < tn_row_count(); r++) {
        const tn_row *row = tn_row_at(r);
        const int64_t mark = tn_scope_begin();
        if (rows_take(0, r) && sample_count(row)) {
            rows++;
            ways[way_of(row)]++;
            tested_row(row);
            walk_row(row, device, getenv("TN_QUICK") == NULL);
            if (bare != TN_NO_DEVICE) refused += check_bare(row, bare);
        }
        tn_scope_end(mark);
    }
    printf(
        "ways on %s: %d rows, of which %d kernel, %d expression, %d moves, %d view, %d composed; "
        "%d have no kernel; the bare device refuses %d\n",
        tn_device_name(device), rows, ways[WAY_KERNEL], ways[WAY_EXPRESSION], ways[WAY_MOVES],
        ways[WAY_VIEW], ways[WAY_COMPOSED], nmissing, refused);
    if (tested_blocks()) {
        failed++;
        printf("FAILED %lld blocks of devices were not freed\n", (long long)tested_blocks());
    }
    tn_context_free(NULL);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
