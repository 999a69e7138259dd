/* captured.h - steps of all optimizers with `capturable` on a device: replays of a captured step
 * have the bits of the same steps without a graph, which are near those that the host counts; and
 * the option may change on the way. */
#ifndef TESTS_CAPTURED_H
#define TESTS_CAPTURED_H

#include "../src/api/extend.h"
#include "../src/api/ops.h"
#include "../src/api/optim.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CAPTURED_STEPS = 8, CAPTURED_WIDE = 5, CAPTURED_ALL = 2 * CAPTURED_WIDE };
enum captured_how { CAPTURED_HOST, CAPTURED_EAGER, CAPTURED_REPLAY, CAPTURED_MOVED };
typedef struct captured_net {
    tn_tensor *x, *p[2]; /* f32 and f64 */
    tn_optimizer *o;
} captured_net;

static tn_tensor *captured_ramp(tn_dtype dtype, tn_device_id device) {
    return tnp_arange(tn_int(CAPTURED_WIDE), dtype, device);
}
/* The options of a row that a second run has otherwise than by default. */
static bool captured_options(tn_optimizer *o, const tn_orow *row) {
    static const struct {
        const char *name;
        double value;
    } other[] = {{"amsgrad", 1},  {"weight_decay", 0.125}, {"decoupled_weight_decay", 1},
                 {"centered", 1}, {"momentum", 0.875},     {"maximize", 1},
                 {"t0", 2}};
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        if (tn_param_named(row->gen, other[k].name, SIZE_MAX) &&
            !tn_optimizer_set(o, 0, other[k].name, other[k].value))
            return false;
    return true;
}
static bool captured_begin(captured_net *n, const tn_orow *row, tn_device_id device, bool other) {
    union {
        double align;
        char bytes[512];
    } args;
    tn_tensors params;
    n->x = captured_ramp(TN_F32, device);
    n->p[0] = tn_requires_grad(tnp_mul_scalar(captured_ramp(TN_F32, device), tn_float(0.25)));
    n->p[1] = tn_requires_grad(tnp_mul_scalar(captured_ramp(TN_F64, device), tn_float(-0.5)));
    memcpy(args.bytes, row->gen->defaults, row->gen->args_size);
    params = tn_tensors_of(n->p, 2);
    memcpy(args.bytes + row->gen->param[0].offset, &params, sizeof params);
    n->o = tn_optimizer_make(__FILE__, __LINE__, row, args.bytes);
    return n->o && (!other || captured_options(n->o, row));
}
/* A step down sum((p + 0.5 - x)^2) of both. */
static bool captured_step(captured_net *n) {
    tn_tensor *all[2];
    bool ok;
    for (int k = 0; k < 2; k++) {
        tn_tensor *d = tnp_sub(tnp_add_scalar(n->p[k], tn_float(0.5), 1), n->x, 1);
        all[k] = tnp_sum(tnp_mul(d, d), tn_no_dims(), false, TN_NO_DTYPE);
    }
    ok = tn_backward_all(tn_tensors_of(all, 2), NULL, NULL) && tn_optimizer_step(n->o);
    tn_optimizer_zero_grad(n->o);
    return ok;
}
/* What the parameters are, and whether the state counts so many steps. */
static bool captured_look(captured_net *n, double *to, int steps) {
    tn_named_list l = tn_optimizer_state_dict(n->o);
    int right = 0;
    for (int64_t i = 0; i < l.n; i++) {
        const char *dot = strrchr(l.at[i].name, '.');
        if (!strcmp(dot, ".step")) right += tn_item(l.at[i].tensor) == steps;
    }
    tn_named_free(l);
    for (int k = 0; k < 2; k++)
        if (!tn_read_f64(tnp_detach(n->p[k]), to + k * CAPTURED_WIDE, CAPTURED_WIDE)) return false;
    return right == 2;
}
static bool captured_run(const tn_orow *row, tn_device_id device, enum captured_how how, bool other,
                         double to[CAPTURED_STEPS][CAPTURED_ALL]) {
    captured_net n;
    tn_recording *r = NULL;
    bool ok = captured_begin(&n, row, device, other);
    if (how != CAPTURED_HOST && how != CAPTURED_MOVED)
        ok = ok && tn_optimizer_set(n.o, 0, "capturable", 1);
    for (int i = 0; ok && i < CAPTURED_STEPS; i++) {
        if (how == CAPTURED_MOVED && i % 2) /* on, off, on, off */
            ok = tn_optimizer_set(n.o, 0, "capturable", i / 2 % 2 == 0);
        if (how == CAPTURED_REPLAY && i == 1) {
            ok = tn_capture_begin() && captured_step(&n);
            r = tn_record_end();
        }
        ok = ok && tnp_add_scalar_(n.x, tn_float(0.25), 1) != NULL;
        ok = ok && (r ? tn_replay(r) : captured_step(&n)) && captured_look(&n, to[i], i + 1);
    }
    tn_recording_free(r);
    tn_optimizer_free(n.o);
    return ok;
}
static bool captured_near(double (*a)[CAPTURED_ALL], double (*b)[CAPTURED_ALL]) {
    for (int i = 0; i < CAPTURED_STEPS; i++)
        for (int k = 0; k < CAPTURED_ALL; k++)
            if (!(fabs(a[i][k] - b[i][k]) <= 1e-4 * (1 + fabs(a[i][k])))) {
                printf("step %d, element %d: %.9g and %.9g\n", i + 1, k, a[i][k], b[i][k]);
                return false;
            }
    return true;
}

/* How many optimizers were tried. */
static int captured_optimizers(tn_device_id device) {
    static double got[4][CAPTURED_STEPS][CAPTURED_ALL];
    int tried = 0;
    for (int64_t i = 0; i < tn_orow_count(); i++) {
        const tn_orow *row = tn_orow_at(i);
        if (!row->captured) continue;
        tried++;
        for (int other = 0; other < 2; other++)
            TN_SCOPE {
                bool ok = true;
                for (int how = 0; how < 4; how++)
                    ok = ok && captured_run(row, device, (enum captured_how)how, other, got[how]);
                ok = ok && !memcmp(got[CAPTURED_EAGER], got[CAPTURED_REPLAY], sizeof *got) &&
                     captured_near(got[CAPTURED_HOST], got[CAPTURED_EAGER]) &&
                     captured_near(got[CAPTURED_HOST], got[CAPTURED_MOVED]);
                if (!ok) {
                    tn_error_info e;
                    const char *why = tn_error_take(&e) ? e.message : "other numbers";
                    printf("%s, options %d: %s\n", row->name, other, why);
                }
                CHECK(ok);
            }
    }
    return tried;
}

#endif
