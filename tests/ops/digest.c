/* digest.c - see digest.h. */
#include "digest.h"

#include <math.h>

bool digest_read(digest *d, const char *text) {
    memset(d, 0, sizeof *d);
    return sscanf(text, "%15s (%119[^)]) %119[^\n]", d->dtype, d->dims, d->values) == 3;
}

static bool dims_are(const digest *d, const tn_tensor *t, bool strides, char error[300]) {
    char has[120];
    size_t n = 0, upto = strlen(d->dims);
    has[0] = 0;
    for (int k = 0; k < t->ndim * 2; k++)
        n += (size_t)snprintf(has + n, sizeof has - n, "%s%lld",
                              k == t->ndim ? ";"
                              : k          ? ","
                                           : "",
                              (long long)(k < t->ndim ? t->size[k] : t->stride[k - t->ndim]));
    if (!t->ndim) strcpy(has, ";");
    if (!strides) upto = strcspn(d->dims, ";") + 1;
    if (strncmp(has, d->dims, upto) == 0 && (!strides || strlen(has) == upto)) return true;
    snprintf(error, 300, "sizes;strides are %s, torch gives %s", has, d->dims);
    return false;
}

static const char *element_of(const tn_tensor *t, int64_t i) {
    int64_t at = 0;
    for (int d = t->ndim - 1; d >= 0; d--) {
        at += i % t->size[d] * t->stride[d];
        i /= t->size[d];
    }
    return tni_bytes_at(t) + at * tni_dtype_size(t);
}

static bool hash_is(const digest *d, const tn_tensor *t, char error[300]) {
    char has[20];
    uint64_t h = 0;
    for (int64_t i = 0; i < t->numel; i++)
        h = sample_hash(h ^ (uint64_t)tni_element(element_of(t, i), t->dtype).integer);
    snprintf(has, sizeof has, "%llx", (unsigned long long)(h >> 24));
    if (d->values[0] == '#' && strcmp(d->values + 1, has) == 0) return true;
    snprintf(error, 300, "other integers than torch's; the first is %lld",
             t->numel ? (long long)tni_element(element_of(t, 0), t->dtype).integer : 0);
    return false;
}

static bool sums_are(const digest *d, const tn_tensor *t, double units, char error[300]) {
    const int per = tni_is_complex(t->dtype) ? 2 : 1;
    double sum[2] = {0, 0}, want[2], total = 0, most = 0, room;
    uint64_t special = 0, hash = 0;
    const char *tail = strchr(d->values, '!');
    if (sscanf(d->values, "%lf %lf", &want[0], &want[1]) != 2)
        return snprintf(error, 300, "torch's are integers"), false;
    if (tail) hash = strtoull(tail + 1, NULL, 16);
    for (int64_t i = 0; i < t->numel * per; i++) {
        const tn_scalar s = tni_element(element_of(t, i / per), t->dtype);
        const double v = i % per ? s.imaginary : s.real;
        if (!isfinite(v)) {
            special = sample_hash(special ^ (4 * (uint64_t)i + (v != v ? 1 : v > 0 ? 2 : 3)));
            continue;
        }
        for (int k = 0; k < 2; k++) sum[k] += sample_weight((uint64_t)i + 1000 * (uint64_t)k) * v;
        total += fabs(v);
        if (fabs(v) > most) most = fabs(v);
    }
    room = units * sample_epsilon(t->dtype) * (total + most * (double)t->numel) + 1e-14 * total;
    room += t->dtype == TN_F16 ? 0x1p-24 * (double)t->numel : 1e-300;
    if (special >> 24 != hash)
        return snprintf(error, 300, "other places are NaN or infinite than in torch"), false;
    for (int k = 0; k < 2; k++)
        if (!(fabs(sum[k] - want[k]) <= room))
            return snprintf(error, 300, "sum %d is %.15g, torch gives %.15g (%.3g allowed)", k,
                            sum[k], want[k], room),
                   false;
    return true;
}

bool digest_is(const digest *d, const tn_tensor *t, bool strides, double units, char error[300]) {
    if (sample_dtype(d->dtype) != (tn_dtype)t->dtype) {
        snprintf(error, 300, "dtype %s, torch gives %s", tn_dtype_name((tn_dtype)t->dtype),
                 d->dtype);
        return false;
    }
    if (!dims_are(d, t, strides, error)) return false;
    if (tni_dtype(t->dtype)->category >= TNI_CAT_FLOAT) return sums_are(d, t, units, error);
    return hash_is(d, t, error);
}
