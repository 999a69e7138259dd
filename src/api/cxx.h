/* cxx.h - C++ only: parameter types of the overloads.
 *
 *     tn_max(x, 1)   tn_add(x, 2)   tn_sum(x, {0, 2})   tn_cat({x, y})
 *     C++20: tn_sum(x, {.keepdim = true})
 *
 * Overloads have torch's names and default arguments, and know the line of the call. Lists are
 * borrowed during the call. */
#ifndef TNI_API_CXX_H
#define TNI_API_CXX_H

#include "types.h"

#ifdef __cplusplus
#include <initializer_list>

TNI_NAMESPACE_BEGIN

/* File and line of a call. */
struct tn_site {
    const char *file;
    int line;
#if defined(__GNUC__) || (defined(_MSC_VER) && _MSC_VER >= 1926)
    static tn_site here(const char *f = __builtin_FILE(), int l = __builtin_LINE()){
#else
    static tn_site here(const char *f = nullptr, int l = 0) {
#endif
        tn_site s = {f, l};
    return s;
}
}
;

/* Lists. Default-constructed, each is None. */
struct tn_dims {
    tn_ints value;
    tn_dims() : value(tn_no_dims()) {}
    tn_dims(tn_ints l) : value(l) {}
    tn_dims(std::initializer_list<int64_t> l) : value(tn_empty_dims()) {
        if (l.size()) value = tn_ints_of(l.begin(), (int64_t)l.size());
    }
};

struct tn_doubles {
    tn_floats value;
    tn_doubles() { value.at = nullptr, value.n = -1; }
    tn_doubles(tn_floats l) : value(l) {}
    tn_doubles(std::initializer_list<double> l) {
        value.at = l.begin(), value.n = (int64_t)l.size();
    }
};

struct tn_tensor_list {
    tn_tensors value;
    tn_tensor_list() : value(tn_tensors_of(nullptr, -1)) {}
    tn_tensor_list(tn_tensors l) : value(l) {}
    tn_tensor_list(std::initializer_list<tn_tensor *> l)
        : value(tn_tensors_of(l.begin(), (int64_t)l.size())) {}
};

/* These exact types are numbers, so that a literal 0 is a number and not a null pointer. */
template <class N>
struct tni_is_number {};
#define TNI_NUMBER_TYPE(N, make)                      \
    template <>                                       \
    struct tni_is_number<N> {                         \
        typedef N type;                               \
        static tn_scalar scalar(N v) { return make; } \
    };
TNI_NUMBER_TYPE(bool, tn_bool(v))
TNI_NUMBER_TYPE(char, tn_int(v))
TNI_NUMBER_TYPE(signed char, tn_int(v))
TNI_NUMBER_TYPE(unsigned char, tn_int(v))
TNI_NUMBER_TYPE(short, tn_int(v))
TNI_NUMBER_TYPE(unsigned short, tn_int(v))
TNI_NUMBER_TYPE(int, tn_int(v))
TNI_NUMBER_TYPE(unsigned, tn_int(v))
TNI_NUMBER_TYPE(long, tn_int(v))
TNI_NUMBER_TYPE(long long, tn_int(v))
TNI_NUMBER_TYPE(unsigned long, tn_int((int64_t)v))
TNI_NUMBER_TYPE(unsigned long long, tn_int((int64_t)v))
TNI_NUMBER_TYPE(float, tn_float((double)v))
TNI_NUMBER_TYPE(double, tn_float(v))
TNI_NUMBER_TYPE(tn_scalar, v)
#undef TNI_NUMBER_TYPE

struct tn_number {
    tn_scalar value;
    tn_number() : value(tn_none()) {}
    template <class N>
    tn_number(N v, typename tni_is_number<N>::type * = nullptr)
        : value(tni_is_number<N>::scalar(v)) {}
};

TNI_NAMESPACE_END

/* The list macros of C. */
#ifndef TN_DIMS
#define TN_DIMS(...) (tn_dims({__VA_ARGS__}))
#define TN_LIST(...) (tn_tensor_list({__VA_ARGS__}))
#define TN_FLOATS(...) (tn_doubles({__VA_ARGS__}))
#endif

#endif
#endif
