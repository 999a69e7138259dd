/* grouped.cu - products of matrices in groups, whose ends a tensor gives, with the CPU's bits
 * (ops/linalg/grouped.c): one product in tiles for each group. */
#include "copy.cuh"
#include "families.cuh"
#include "here.cuh"
#include "products.cuh"

#include <new>
#include <vector>

/* The ends of the groups of the thread's call, from look to run. */
static thread_local std::vector<int64_t> grouped_ends;

static bool grouped_mm_look(tn_frame *f) {
    tnc_here inputs;
    bool ok = true;
    if (!f->in[2]) return true;
    if (!tnc_here_begin(f, &inputs, 1u << 2)) return false;
    try {
        const tn_operand o = tn_operand_of(f->in[2]);
        ok = f->row->look(f);
        grouped_ends.assign(1, 0); /* the first group begins there */
        for (int64_t g = 0; ok && g < o.numel; g++) {
            int32_t end;
            memcpy(&end, o.at + g * o.stride[0] * o.bytes, sizeof end);
            grouped_ends.push_back(end);
        }
    } catch (const std::bad_alloc &) {
        ok = tn_fail(f, TN_MEMORY, "no memory of the host for the ends of groups");
    }
    tnc_here_end(f, &inputs);
    return ok;
}

/* Group g of t: its matrix, or its rows or columns (d: 0 or 1) from where it begins. */
static const char *grouped_at(const tn_operand &t, int d, int64_t g, int64_t begin) {
    return t.at + (t.ndim == 3 ? g * t.stride[0] : begin * t.stride[d]) * t.bytes;
}
static void grouped_mm_run(tn_frame *f) {
    const tn_operand x = tn_operand_of(f->in[0]), w = tn_operand_of(f->in[1]),
                     y = tn_operand_of(f->out[0]);
    const cudaStream_t s = tnc_stream(f);
    const bool ends = f->in[2] != NULL;
    const int64_t groups = ends ? (int64_t)grouped_ends.size() - 1 : x.size[0];
    const int i = x.ndim - 2, j = w.ndim - 2;
    if (!y.numel) return;
    if (y.ndim == 2) { /* what lies behind the last group is 0 */
        const double zero[2] = {0, 0};
        tnc_fill(tn_frame_device(f), f->out[0], zero);
    }
    for (int64_t g = 0; g < groups; g++) {
        const int64_t begin = ends ? grouped_ends[(size_t)g] : 0,
                      cut = ends ? grouped_ends[(size_t)g + 1] - begin : 0;
        tnc_product p;
        memset(&p, 0, sizeof p);
        p.m = x.ndim == 2 && w.ndim == 3 ? cut : x.size[i];
        p.k = x.ndim == 2 && w.ndim == 2 ? cut : x.size[i + 1];
        p.n = x.ndim == 3 && w.ndim == 2 ? cut : w.size[j + 1];
        if (!p.m || !p.n) continue;
        p.batches = p.parts = 1;
        p.dtype = x.dtype;
        p.blocks = (p.k + TN_PRODUCT_BLOCK - 1) / TN_PRODUCT_BLOCK;
        p.a = grouped_at(x, w.ndim == 3 ? 0 : 1, g, begin);
        p.b = grouped_at(w, x.ndim == 3 ? 1 : 0, g, begin);
        p.a_row = x.stride[i];
        p.a_col = x.stride[i + 1];
        p.b_row = w.stride[j];
        p.b_col = w.stride[j + 1];
        p.c_row = y.size[y.ndim - 1];
        p.c_col = 1;
        p.c = y.at + (y.ndim == 3   ? g * p.m * p.n
                      : x.ndim == 2 ? begin * p.c_row
                                    : begin) *
                         y.bytes;
        p.alpha = p.beta = 1;
        tnc_product_alone(&p, s);
    }
}

static const tn_device_row grouped_table[] = {
    {"grouped_mm", false, grouped_mm_look, NULL, grouped_mm_run}};
TNC_FAMILY(grouped, grouped_table)
