/* schema.c - the texts of a row that is registered at run time: schema, saves, needs, and its forms
 * as a digit, a line each. What is accepted is called with a value for each parameter, with and
 * without a graph. */
#include "fuzz.h"

#include "../../src/api/extend.h"
#include "../../src/api/ops.h"

enum { VALUES = 64 };

static bool check(tn_frame *f) {
    static const int64_t size[] = {2};
    int n = f->row->gen->nresults + f->row->gen->nsaves;
    if (f->row->gen->props & TN_PROP_RETURNS_LIST && !tn_announce_count(f, n = 2)) return false;
    for (int k = 0; k < n; k++)
        if (!tn_announce(f, k, TN_F32, 1, size)) return false;
    return true;
}
static void run(tn_frame *f) {
    for (int k = 0; k < f->nout; k++)
        if (f->out[k]) memset(tn_data(f->out[k]), 0, 8);
}

static void value_of(tn_value *v, const tn_param *p, tn_tensor *const *t) {
    static const int64_t ints[] = {1, 2, 3};
    static const double floats[] = {0.5, 2};
    memset(v, 0, sizeof *v);
    v->name = p->name;
    v->type = p->type;
    switch (p->type) {
    case TN_T_TENSOR: v->as.tensor = t[0]; break;
    case TN_T_TENSORS: v->as.tensors = tn_tensors_of(t, 2); break;
    case TN_T_INT: v->as.integer = 3; break;
    case TN_T_FLOAT: v->as.real = 0.5; break;
    case TN_T_BOOL: v->as.boolean = true; break;
    case TN_T_SCALAR: v->as.scalar = tn_float(2); break;
    case TN_T_INTS: v->as.ints = tn_ints_of(ints, 3); break;
    case TN_T_FLOATS: v->as.floats.at = floats, v->as.floats.n = 2; break;
    case TN_T_DTYPE: v->as.dtype = TN_F32; break;
    case TN_T_DEVICE: v->as.device = TN_CPU; break;
    case TN_T_ENUM: v->as.integer = 1; break;
    case TN_T_STRING: v->as.string = "text"; break;
    default: v->type = 0;
    }
}

/* The call with all parameters, or the required ones. */
static void call(const tn_row *row, bool all, bool graph) {
    tn_value values[VALUES];
    tn_tensor *results[VALUES], *t[2];
    int n = 0, count;
    TN_SCOPE {
        t[0] = tn_ones(TN_DIMS(2)), t[1] = tn_ones(TN_DIMS(2));
        if (graph) tn_requires_grad(t[0]);
        MUST(row->gen->nparam <= VALUES, "more parameters than documented");
        for (int i = 0; i < row->gen->nparam; i++)
            if (all || !(row->gen->param[i].flags & TN_P_DEFAULT))
                value_of(&values[n++], &row->gen->param[i], t);
        if (tn_call_row(NULL, 0, row, TN_PLAIN, values, n, results, VALUES, &count)) {
            for (int k = 0; k < count; k++) MUST(tn_numel(results[k]) == 2, "a result is missing");
            if (count && tn_needs_grad(results[0])) tn_backward(tn_sum(results[0]));
        }
        tn_error_take(NULL);
    }
}

static bool one(const uint8_t *data, size_t size) {
    tn_context *old = tn_context_current(), *own = fuzz_enter(1 << 22);
    char *line[4];
    tn_row row;
    tn_gen *gen;
    bool valid;
    fuzz_lines(data, size, line, 4);
    memset(&row, 0, sizeof row);
    row.name = "fuzzed";
    row.schema = line[0], row.saves = line[1], row.needs = line[2];
    row.forms = (uint32_t)(line[3][0] & (TN_OUT | TN_INPLACE | TN_SHAPE_ONLY | TN_ALIAS));
    row.check = check, row.run = run, row.grad = tn_grad_zero;
    gen = tn_schema_new(row.schema);
    if (!gen) fuzz_error();
    tn_schema_free(gen);
    valid = tn_register(&row);
    if (!valid) fuzz_error();
    for (int k = 0; valid && k < 4; k++) call(&row, k & 1, k & 2);
    fuzz_leave(own);
    tn_context_use(old);
    fuzz_lines_free(line, 4);
    return valid;
}

const fuzz_target fuzz_this = {"schema", NULL, one};
