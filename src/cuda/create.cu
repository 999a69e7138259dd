/* create.cu - ranges: arange and linspace. A thread an element, which computes its value from its
 * number. (Constants and unit matrices are fills: TN_MOVES.) */
#include "elements.cuh"
#include "families.cuh"

struct tnc_range {
    tn_range_plan plan;
    char *to;
    int64_t n, step; /* bytes */
    int32_t dtype;
};

__global__ void __launch_bounds__(TNC_THREADS) tnc_range_kernel(tnc_range a) {
    const tn_range_plan &p = a.plan;
    for (int64_t i = TNC_FIRST(); i < a.n; i += TNC_STEP()) {
        char *to = a.to + i * a.step;
        if (p.whole)
            tnc_store_real(to, a.dtype,
                           (int64_t)((uint64_t)p.first + (uint64_t)i * (uint64_t)p.by));
        else if (p.both_ends && i >= a.n / 2)
            tnc_store_real(to, a.dtype, fma(-p.step, (double)(a.n - 1 - i), p.end));
        else
            tnc_store_real(to, a.dtype, fma(p.step, (double)i, p.start));
    }
}

/* Elements of dtypes without arithmetic are only moved on a device. */
static bool range_prepare(tn_frame *f) {
    switch (tn_dtype_of(f->out[0])) {
    case TN_BOOL:
    case TN_U8:
    case TN_I8:
    case TN_I16:
    case TN_I32:
    case TN_I64:
    case TN_F16:
    case TN_BF16:
    case TN_F32:
    case TN_F64:
    case TN_C64:
    case TN_C128: return true;
    default:
        return tn_fail(f, TN_UNSUPPORTED, "a range of dtype %s has no kernel on the device",
                       tn_dtype_name(tn_dtype_of(f->out[0])));
    }
}

static void range_run(tn_frame *f) {
    const tn_operand out = tn_operand_of(f->out[0]);
    tnc_range a;
    if (!out.numel) return;
    const bool is_complex = out.dtype == TN_C64 || out.dtype == TN_C128;
    a.to = out.at;
    a.n = out.numel;
    a.step = out.stride[0] * out.bytes;
    a.dtype = out.dtype;
    if (is_complex) a.dtype = out.dtype == TN_C64 ? TN_F32 : TN_F64;
    for (int part = 0; part < 1 + is_complex; part++, a.to += out.bytes / 2) {
        tn_range_plan_of(&a.plan, f, part);
        TNC_LAUNCH_PLAIN((tnc_range_kernel), tnc_blocks(a.n, TNC_THREADS), TNC_THREADS,
                         tnc_stream(f), a);
    }
}

static const tn_device_row create_table[] = {
    {"arange", false, NULL, range_prepare, range_run},
    {"arange_start", false, NULL, range_prepare, range_run},
    {"arange_start_step", false, NULL, range_prepare, range_run},
    {"linspace", false, NULL, range_prepare, range_run}};
TNC_FAMILY(create, create_table)
