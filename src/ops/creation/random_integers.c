/* random_integers.c - random integers and permutations, as torch draws them.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "random.h"
#include "../../api/device.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"

/* Integers of the row's range, 512 at a time. */
static void random_integers(tn_frame *f) {
    tn_tensor *t = f->out[0];
    tn_generator *g = f->generator;
    int64_t bytes = tni_dtype_size(t), tile[512];
    tn_integers_plan p;
    tn_integers_plan_of(&p, f);
    const uint64_t range = p.range, low = (uint64_t)p.low;
    const bool wide = p.wide;
    for (int64_t i = 0; i < t->numel && !tni_stopped(); i += 512) {
        int64_t n = t->numel - i < 512 ? t->numel - i : 512;
        for (int64_t k = 0; k < n; k++) {
            uint64_t v = wide ? tni_random64(g) % range : tni_random32(g) % (uint32_t)range;
            tile[k] = (int64_t)(v + low);
        }
        tni_lanes_save(tni_bytes_at(t) + i * bytes, bytes, t->dtype, tile, TN_I64, n);
    }
}

/* How many integers from 0 on may be drawn: all that an integer dtype holds, or all that a floating
 * dtype holds exactly. */
static uint64_t random_most(int dtype) {
    const tni_dtype_info *info = tni_dtype(dtype);
    if (info->digits) return ((uint64_t)1 << info->digits) + 1;
    return dtype == TN_BOOL ? 2 : (uint64_t)1 << (info->bytes * 8 - info->is_signed);
}
static bool random_check(tn_frame *f) { return tni_random_self(f, TNI_RANDOM_ANY); }
static void random_run(tn_frame *f) { random_integers(f); }
/* Fills self with random integers from 0 to the largest that its dtype can hold. For floating
 * dtypes the largest is that up to which they hold all integers exactly. */
TN_OPERATOR(random, "random_(Tensor self, *, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self", .example = "tn_random_(x)"), .forms = TN_INPLACE,
            .check = random_check, .run = random_run, .grad = tni_random_zero_grad,
            .sample = "(2,3) | (5):f64 | (20):i32 | (4):i64 | (5):bool | (600):u8 | (0):i16",
            .node = "RandomBackward2")

/* Whether integers from low to last are elements of dtype, as torch asks. */
static bool random_holds(tn_frame *f, int dtype, int64_t low, int64_t last, const char *what) {
    const tni_dtype_info *info = tni_dtype(dtype);
    const int bits = dtype == TN_BOOL ? 1 : (int)info->bytes * 8 - info->is_signed;
    const int64_t most =
        dtype == TN_F16 ? (int64_t)info->largest : ((int64_t)1 << (bits > 62 ? 62 : bits)) - 1;
    const int64_t least = dtype == TN_F16 ? -most : info->is_signed ? -most - 1 : 0;
    if ((info->category >= TNI_CAT_FLOAT && dtype != TN_F16) || bits > 62 ||
        (low >= least && last <= most))
        return true;
    return tn_fail(f, TN_INVALID, "%s is out of bounds for %s", what, info->text);
}

/* What both randint rows check: a range that is not empty and that the dtype holds. */
static bool randint_range(tn_frame *f, int64_t low, int64_t high, tn_ints size, tn_dtype dtype,
                          tn_device_id device) {
    if (low >= high)
        return tn_fail(f, TN_INVALID, "from (%lld) is not less than to (%lld)", (long long)low,
                       (long long)high);
    if (!random_holds(f, dtype ? (int)dtype : TN_I64, low, high - 1, "low or high - 1"))
        return false;
    return tni_random_new(f, size, dtype ? dtype : TN_I64, device, TNI_RANDOM_WHOLE);
}

static bool randint_check(tn_frame *f) {
    TN_ARGS(randint, a, f);
    return randint_range(f, 0, a->high, a->size, a->dtype, a->device);
}
static void randint_run(tn_frame *f) { random_integers(f); }
/* Random integers in [0, high), int64 unless a dtype is given. */
TN_OPERATOR(randint,
            "randint(int high, int[] size, *, Generator? generator=None, ScalarType? dtype=None, "
            "Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> size", .example = "tn_randint(10, TN_DIMS(2, 3))",
                   .differs = "parameter dtype: None means int64 here as well"),
            .forms = TN_OUT, .check = randint_check, .run = randint_run,
            .sample = "10 [2,3] | 5 [0] | 1000000000000 [3] | 7 [4] dtype=float32")

static bool randint_low_check(tn_frame *f) {
    TN_ARGS(randint_low, a, f);
    return randint_range(f, a->low, a->high, a->size, a->dtype, a->device);
}
static void randint_low_run(tn_frame *f) { random_integers(f); }
/* Random integers in [low, high), int64 unless a dtype is given. */
TN_OPERATOR(randint_low,
            "randint.low(int low, int high, int[] size, *, Generator? generator=None, ScalarType? "
            "dtype=None, Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> size", .example = "tn_randint_low(-5, 5, TN_DIMS(2, 3))",
                   .differs = "parameter dtype: None means int64 here as well"),
            .forms = TN_OUT, .check = randint_low_check, .run = randint_low_run,
            .sample = "-3 10 [2,3] | 5 6 [] | -9 9 [4] dtype=int8")

static bool randperm_check(tn_frame *f) {
    TN_ARGS(randperm, a, f);
    tn_ints size = tni_ints(&a->n, 1);
    const tn_dtype given = f->ngiven ? (tn_dtype)f->given[0]->dtype : TN_I64,
                   dtype = a->dtype ? a->dtype : given;
    if (a->n < 0) return tn_fail(f, TN_INVALID, "n (%lld) is negative", (long long)a->n);
    if (dtype == TN_BOOL)
        return tn_fail(f, TN_TYPE, "permutations of dtype bool are not supported");
    if (!random_holds(f, (int)dtype, 0, a->n - 1, "n - 1")) return false;
    /* float16 holds the integers up to 2048 exactly. */
    if (dtype == TN_F16 && a->n > 2049)
        return tn_fail(f, TN_INVALID, "n must be at most 2049 for float16");
    if (dtype != TN_I64 && !tn_scratch(f, a->n, 8)) return false;
    return tni_random_new(f, size, dtype, a->device, TNI_RANDOM_ANY);
}
/* torch draws 64 bits for dtypes of 8 bytes and for ranges from 2^28 on, else 32. The range is
 * unsigned, since high - low may exceed int64_t. */
TN_API void tn_integers_plan_of(tn_integers_plan *p, const tn_frame *f) {
    int64_t high;
    p->low = 0;
    if (f->row->run == random_run) {
        p->range = random_most(f->out[0]->dtype);
        p->wide = tni_dtype_size(f->out[0]) == 8;
        return;
    }
    if (f->row->run == randint_run) {
        TN_ARGS(randint, a, f);
        high = a->high;
    } else {
        TN_ARGS(randint_low, a, f);
        p->low = a->low;
        high = a->high;
    }
    p->range = (uint64_t)high - (uint64_t)p->low;
    p->wide = p->range >= (uint64_t)1 << 28;
}

/* R. Durstenfeld, "Algorithm 235: Random permutation", CACM 7, 1964: each place takes one of those
 * left, itself included. */
static void randperm_run(tn_frame *f) {
    tn_tensor *t = f->out[0];
    int64_t n = t->numel, *p;
    if (!n) return;
    /* Other dtypes are permuted as int64 in scratch and converted at the end. */
    p = (int64_t *)(t->dtype == TN_I64 ? (void *)tni_bytes_at(t) : f->scratch);
    for (int64_t i = 0; i < n; i++) p[i] = i;
    for (int64_t i = 0; i < n - 1 && !tni_stopped_at(i); i++) {
        /* torch's choice: 32 bits serve unless n is large enough to make the remainder uneven. */
        uint64_t left = (uint64_t)(n - i),
                 r = n < 0xffffffff / 20 ? tni_random32(f->generator) : tni_random64(f->generator);
        int64_t k = i + (int64_t)(r % left), v = p[i];
        p[i] = p[k];
        p[k] = v;
    }
    if (t->dtype != TN_I64)
        tni_lanes_save(tni_bytes_at(t), tni_dtype_size(t), t->dtype, p, TN_I64, n);
}
/* The numbers 0 .. n - 1 in random order, int64 unless a dtype is given. */
TN_OPERATOR(randperm,
            "randperm(int n, *, Generator? generator=None, ScalarType? dtype=None, Device? "
            "device=None) -> Tensor",
            TN_DOC(.shapes = "-> (n)", .example = "tn_randperm(10)",
                   .differs = "parameter dtype: None means int64 here as well"),
            .forms = TN_OUT, .check = randperm_check, .run = randperm_run,
            .sample = "10 | 0 | 1 | 1000 | 5 dtype=int32")
