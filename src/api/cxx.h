/* cxx.h - C++ only: what the functions of namespace tn take.
 *
 *     tn::tensor x = tn::randn({2, 3}), y = (x * 2 + 1).sum({0, 1});
 *     C++20: x.sum({.keepdim = true})     before: x.sum(tn::sum_options().set_keepdim(true))
 *     tn_tensor *z = tn_sum(x, {0, 2}, true);     C's names: as in C, with default arguments
 *
 * Functions have torch's names and default arguments, and know the line of the call. Lists, tensors
 * and texts are borrowed during the call. */
#ifndef TNI_API_CXX_H
#define TNI_API_CXX_H

#include "io.h"

#ifdef __cplusplus
#include <initializer_list>

/* namespace tn, and in it a namespace that is named by prefix and layout, and by TN_EXCEPTIONS,
 * because files with and without it compile other functions of the same name. */
#ifdef TN_EXCEPTIONS
#define TNI_TN_BEGIN    \
    namespace tn {      \
    TNI_NAMESPACE_BEGIN \
    inline namespace throws {
#define TNI_TN_END    \
    }                 \
    TNI_NAMESPACE_END \
    }
#else
#define TNI_TN_BEGIN \
    namespace tn {   \
    TNI_NAMESPACE_BEGIN
#define TNI_TN_END    \
    TNI_NAMESPACE_END \
    }
#endif

TNI_TN_BEGIN

class tensor;
class tensors;

/* File and line of a call: that of the default argument `site()`. */
#if defined(__GNUC__) || (defined(_MSC_VER) && _MSC_VER >= 1926)
#define TNI_FILE __builtin_FILE()
#define TNI_LINE __builtin_LINE()
#else
#define TNI_FILE nullptr
#define TNI_LINE 0
#endif
struct site {
    struct name { /* of a file: {0, 1} are numbers, and no site */
        const char *text;
        explicit name(const char *t) : text(t) {}
    };
    const char *file;
    int line;
    explicit site(name f = name(TNI_FILE), int l = TNI_LINE) : file(f.text), line(l) {}
    static site here(const char *f = TNI_FILE, int l = TNI_LINE) { return site(name(f), l); }
};
#undef TNI_FILE
#undef TNI_LINE

namespace detail {     /* private */
inline double huge() { /* HUGE_VAL: <math.h> of C++ would cost more than this file */
    volatile double zero = 0;
    return 1 / zero;
}
struct handle { /* the pointer in a tensor */
    tn_tensor *p_;
};
/* What data() of a container gives: std::vector, std::array, std::span, ... */
template <class C>
auto data_of(const C &c) -> decltype(c.size(), c.data());
template <class C>
const C &some(); /* of it, in unevaluated text */
template <class C>
C &place(); /* of one that may be written, there too */
/* Has a type if T * is P, so that a function with it as a parameter is there for these alone. */
template <class P, class T>
struct only {};
template <class T>
struct only<const T *, T> {
    typedef void type;
};
template <class T>
struct only<T *, T> {
    typedef void type;
};
/* Has a type if P is tn_tensor * or nullptr's type. */
template <class P>
struct pointer {};
template <>
struct pointer<tn_tensor *> {
    typedef void type;
};
template <>
struct pointer<decltype(nullptr)> {
    typedef void type;
};
/* As strlen and strcmp; string.h would declare names that programs use, such as index. */
inline size_t length(const char *text) {
    size_t n = 0;
    while (text[n]) n++;
    return n;
}
inline bool is_text(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}
template <class W, class T = void> /* T, where W is a type */
struct when {
    typedef T type;
};
template <class P>
struct plain {}; /* the elements behind a pointer */
template <class T>
struct plain<T *> {
    typedef T type;
};
template <class T>
struct plain<const T *> {
    typedef T type;
};
/* The types that stand for an integer and for a bool: a bool is no integer, and no number a bool,
 * where C++ would convert them. Classes and enums that convert themselves are taken. */
template <class N>
struct is_whole {
    typedef void type;
};
template <>
struct is_whole<bool> {};
template <>
struct is_whole<float> {};
template <>
struct is_whole<double> {};
template <>
struct is_whole<tn_dtype> {};
template <class B, bool is_class = __is_class(B)>
struct is_truth {};
template <>
struct is_truth<bool, false> {
    typedef void type;
};
template <class B>
struct is_truth<B, true> {
    typedef void type;
};
struct converted { /* in unevaluated text */
    static int64_t whole(int64_t v);
    static bool truth(bool v);
};
} // namespace detail

/* An integer and a bool as arguments. They are not made of {}, so that {} are the default options
 * and not the number 0. */
struct integer {
    int64_t value;
    template <class N, class = typename detail::is_whole<N>::type,
              class = decltype(detail::converted::whole(detail::some<N>()))>
    integer(N v) : value(static_cast<int64_t>(v)) {}
};
struct flag {
    bool value;
    template <class B, class = typename detail::is_truth<B>::type,
              class = decltype(detail::converted::truth(detail::some<B>()))>
    flag(B v) : value(v) {}
};

/* A tensor as an argument: a tn::tensor or a tn_tensor *. Default-constructed it is None. */
struct tensor_ref {
    tn_tensor *value;
    tensor_ref() : value(nullptr) {}
    /* Of pointers alone: a literal 0 is a number, as in x.max(0). */
    template <class P, class = typename detail::pointer<P>::type>
    tensor_ref(P t) : value(t) {}
    tensor_ref(const detail::handle &t) : value(t.p_) {}
};
namespace detail {
struct referred { /* in unevaluated text */
    static void by(tensor_ref t);
};
/* A name for each S that converts to a tensor_ref. */
template <class S, class = decltype(referred::by(some<S>()))>
struct refers {};
} // namespace detail

/* Lists of sizes or dims, of numbers, of tensors. {} is a list of no sizes, but None instead of
 * numbers or tensors. No constructor has two parameters: gcc would take
 * {.dim = {0}, .keepdim = true} for a call of it. */
struct int_list {
    tn_ints value;
    int_list() : value(tn_empty_dims()) {}
    int_list(tn_ints l) : value(l) {}
    int_list(std::initializer_list<integer> l) : value(tn_empty_dims()) {
        static_assert(sizeof(integer) == sizeof(int64_t), "a list of them is one for C");
        if (l.size()) value = tn_ints_of(&l.begin()->value, (int64_t)l.size());
    }
    template <class C, class = typename detail::only<decltype(detail::data_of(detail::some<C>())),
                                                     int64_t>::type>
    int_list(const C &c) : value(tn_empty_dims()) {
        if (c.size()) value = tn_ints_of(c.data(), (int64_t)c.size());
    }
    /* As a range: for (int64_t n : x.sizes()) ..., x.sizes()[0], x.sizes() == y.sizes(). Those of a
     * tensor are borrowed from it. */
    size_t size() const { return value.n > 0 ? static_cast<size_t>(value.n) : 0; }
    int64_t operator[](size_t i) const { return value.at[i]; }
    const int64_t *begin() const { return value.at; }
    const int64_t *end() const { return value.at + size(); }
    friend bool operator==(const int_list &a, const int_list &b) {
        bool same = a.size() == b.size();
        for (size_t i = 0; same && i < a.size(); i++) same = a[i] == b[i];
        return same;
    }
    friend bool operator!=(const int_list &a, const int_list &b) { return !(a == b); }
};

/* Sizes of a fixed count, as strides and paddings: one number stands for all. */
struct size_list : int_list {
    int64_t one;
    size_list() : int_list(tn_no_dims()), one(0) {}
    template <class N, class = typename detail::is_whole<N>::type,
              class = decltype(detail::converted::whole(detail::some<N>()))>
    size_list(N all) : int_list(tn_ints_of(&one, 1)), one(static_cast<int64_t>(all)) {}
    size_list(const int_list &l) : int_list(l), one(0) {}
    size_list(tn_ints l) : int_list(l), one(0) {}
    size_list(std::initializer_list<integer> l) : int_list(l), one(0) {}
    template <class C, class = typename detail::only<decltype(detail::data_of(detail::some<C>())),
                                                     int64_t>::type>
    size_list(const C &c) : int_list(c), one(0) {}
    size_list(const size_list &o) : int_list(o), one(o.one) { point(o); }
    size_list &operator=(const size_list &o) {
        value = o.value;
        one = o.one;
        point(o);
        return *this;
    }

  private:
    void point(const size_list &o) {
        if (o.value.at == &o.one) value.at = &one;
    }
};

/* Sizes or dims, or one number alone: x.sum(0), tn::zeros(3). {} is a list of no sizes. */
struct int_or_list : size_list {
    int_or_list() : size_list(tn_empty_dims()) {}
    int_or_list(tn_ints l) : size_list(l) {}
    int_or_list(std::initializer_list<integer> l) : size_list(int_list(l)) {}
    template <class C, class = decltype(size_list(detail::some<C>()))>
    int_or_list(const C &c) : size_list(c) {}
};

struct float_list {
    tn_floats value;
    float_list() { value.at = nullptr, value.n = -1; }
    float_list(tn_floats l) : value(l) {}
    float_list(std::initializer_list<double> l) {
        value.at = l.begin(), value.n = (int64_t)l.size();
    }
    template <class C, class = typename detail::only<decltype(detail::data_of(detail::some<C>())),
                                                     double>::type>
    float_list(const C &c) {
        value.at = c.data(), value.n = (int64_t)c.size();
    }
};

/* A list of numbers in a struct of options, which has its own copy of them. No option takes more
 * numbers than there is room for: a longer list keeps one number too many. */
template <class List, class Element, class Item, int room>
struct kept_list : List {
    kept_list() : List() { keep(); }
    kept_list(std::initializer_list<Item> l) : List(l) { keep(); }
    template <class C, class = decltype(List(detail::some<C>()))>
    kept_list(const C &c) : List(c) {
        keep();
    }
    kept_list(const kept_list &o) : List(static_cast<const List &>(o)) { keep(); }
    kept_list &operator=(const kept_list &o) {
        List::operator=(o);
        keep();
        return *this;
    }

  private:
    Element own_[room + 1];
    void keep() {
        if (this->value.n > room) this->value.n = room + 1;
        for (int64_t i = 0; i < this->value.n; i++) own_[i] = this->value.at[i];
        if (this->value.n > 0) this->value.at = own_;
    }
};
typedef kept_list<size_list, int64_t, integer, 6> kept_size_list;
typedef kept_list<int_or_list, int64_t, integer, TN_MAX_DIMS> kept_int_or_list;
typedef kept_list<float_list, double, double, 6> kept_float_list;

struct tensor_list {
    tn_tensors value;
    tensor_list() : value(tn_tensors_of(nullptr, -1)) {}
    tensor_list(tn_tensors l) : value(l) {}
    tensor_list(std::initializer_list<tensor_ref> l)
        : value(tn_tensors_of(l.size() ? &l.begin()->value : nullptr, (int64_t)l.size())) {
        static_assert(sizeof(tensor_ref) == sizeof(tn_tensor *), "a list of them is one for C");
    }
    template <class C, class = typename detail::only<decltype(detail::data_of(detail::some<C>())),
                                                     tensor>::type>
    tensor_list(const C &c)
        : value(tn_tensors_of(c.size() ? &c.data()->p_ : nullptr, (int64_t)c.size())) {}
};

/* These exact types are numbers, so that a literal 0 is a number and not a null pointer. */
template <class N>
struct is_number {};
#define TNI_NUMBER_TYPE(N, make)                      \
    template <>                                       \
    struct is_number<N> {                             \
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

struct number {
    tn_scalar value;
    number() : value(tn_none()) {}
    template <class N, class = typename is_number<N>::type>
    number(N v) : value(is_number<N>::scalar(v)) {}
};

/* A tensor, or a number in its place. */
struct tensor_or_number {
    tn_tensor *value;
    tn_scalar number;
    tensor_or_number(tn_tensor *t) : value(t), number() {}
    tensor_or_number(const tensor_ref &t) : value(t.value), number() {}
    tensor_or_number(const detail::handle &t) : value(t.p_), number() {}
    template <class N>
    tensor_or_number(N v, typename is_number<N>::type * = nullptr)
        : value(nullptr), number(is_number<N>::scalar(v)) {}
};

namespace detail {
/* How a function gives its results: as C does, or in owning objects. */
template <class C>
struct in_objects; /* the struct of tn::tensors for a struct of C; ops/overloads.h */
struct as_c {
    typedef tn_tensor *one;
    typedef tn_list list;
    template <class C>
    struct many {
        typedef C type;
    };
    /* f, the C function of a row, with its arguments a, and out if it can be given. write: the same
     * in place. */
    template <class R, class A>
    static R call(R (*f)(const char *, int, const A *), site at,
                  const typename when<void, A>::type &a) {
        return f(at.file, at.line, &a);
    }
    template <class R, class A, class O>
    static R call(R (*f)(const char *, int, const A *), site at,
                  const typename when<void, A>::type &a, const O &) {
        return f(at.file, at.line, &a);
    }
    template <class A>
    static tn_tensor *write(tn_tensor *(*f)(const char *, int, const A *), site at,
                            const typename when<void, A>::type &a) {
        return f(at.file, at.line, &a);
    }
};
struct as_objects {
    typedef tensor one;
    typedef tensors list;
    template <class C>
    struct many {
        typedef typename in_objects<C>::type type;
    };
    static tensor made(tn_tensor *fresh);
    static tensor made(tn_tensor *result, tensor_ref out); /* out: borrowed if it was given */
    static tensor written(tn_tensor *self);                /* of a call in place */
    /* Never defined. Of two functions nvcc chooses where a template is used, and tensor is complete
     * there; of one it chooses, and refuses, here. */
    static tensor written(const tensor &self);
    static tensors made(tn_list fresh);
    static bool made(bool result);
    template <class C>
    static typename in_objects<C>::type made(const C &fresh) {
        return in_objects<C>::made(fresh);
    }
    template <class C>
    static typename in_objects<C>::type made(const C &result, const C &out) {
        return out_given(out) ? in_objects<C>::borrowed(result) : in_objects<C>::made(result);
    }
    template <class R, class A>
    static auto call(R (*f)(const char *, int, const A *), site at,
                     const typename when<void, A>::type &a)
        -> decltype(as_objects::made(f(at.file, at.line, &a))) {
        return as_objects::made(f(at.file, at.line, &a));
    }
    template <class R, class A, class O>
    static auto call(R (*f)(const char *, int, const A *), site at,
                     const typename when<void, A>::type &a, const O &out)
        -> decltype(as_objects::made(f(at.file, at.line, &a), out)) {
        return as_objects::made(f(at.file, at.line, &a), out);
    }
    template <class R, class A>
    static auto write(R (*f)(const char *, int, const A *), site at,
                      const typename when<void, A>::type &a)
        -> decltype(as_objects::written(f(at.file, at.line, &a))) {
        return as_objects::written(f(at.file, at.line, &a));
    }
    template <class C>
    static bool out_given(const C &out) { /* structs of results begin with a tensor */
        return *(tn_tensor *const *)(const void *)&out != nullptr;
    }
};
} // namespace detail

TNI_TN_END

TNI_TN_BEGIN
/* A float that is the first option of a function that also takes a struct of options. It is not
 * made of {}, so that {} are the default options and not the number 0. */
template <class T>
struct first_option {
    T value;
    template <class U, class = decltype(static_cast<T>(detail::some<U>()))>
    first_option(U v) : value(static_cast<T>(v)) {}
};
using detail::as_objects; /* a short name, which a compiler looks up a thousand times */
TNI_TN_END

TNI_TN_BEGIN
/* Where several results go, C's struct of them or objects: .out = {values, indices}. */
template <class C>
struct results_ref {
    C value;
    results_ref() : value() {}
    results_ref(const C &c) : value(c) {}
    template <class... T>
    results_ref(const tensor_ref &a, const tensor_ref &b, const T &...t)
        : value{a.value, b.value, tensor_ref(t).value...} {}
};
TNI_TN_END

/* A member of a struct of options, with a setter that C++ before 20 can chain. */
#define TNI_OPTION(type, name, ...) \
    type name = __VA_ARGS__;        \
    template <class S = self_>      \
    S &set_##name(type set_to) {    \
        name = set_to;              \
        return *this;               \
    }

TNI_TN_BEGIN
/* The option of operators that have no other. */
struct out_options {
    typedef out_options self_;
    TNI_OPTION(tensor_ref, out, tensor_ref())
};
TNI_TN_END

/* Calls that are macros in C, where these are not:
 *     tn_tensor_of(TN_DIMS(3), 1, 2, 3)   tn_load_memory(data, bytes, {.borrow = true}) (C++20) */
TNI_NAMESPACE_BEGIN
template <class... N>
inline tn_tensor *tni_tensor_of(const char *file, int line, tn_dtype dtype, tn::int_list shape,
                                N... v) {
    const tn_scalar numbers[] = {tn::number(v).value...};
    return tn_tensor_of_at(file, line, dtype, shape.value, numbers, (int64_t)sizeof...(v));
}
inline tn_named_list tn_load_memory(const void *data, size_t bytes,
                                    tn_load_args options = tn_load_args(),
                                    tn::site at = tn::site::here()) {
    options.data = data;
    options.bytes = bytes;
    return tn_load_memory_at(at.file, at.line, &options);
}
inline tn_bytes tn_save_memory(const tn_named *at, int64_t n, tn_save_args options = tn_save_args(),
                               tn::site site = tn::site::here()) {
    options.at = at;
    options.n = n;
    return tn_save_memory_at(site.file, site.line, &options);
}
/* tn_backward(loss)   tn_backward(loss, {.retain_graph = true}) (C++20) */
inline bool tn_backward(tn::tensor_ref t, tn_backward_args options = tn_backward_args(),
                        tn::site at = tn::site::here()) {
    options.t = t.value;
    return tn_backward_at(at.file, at.line, &options);
}
TNI_NAMESPACE_END

#define tn_tensor_of(shape, ...) tn_tensor_of_dtype(TN_NO_DTYPE, shape, __VA_ARGS__)
#define tn_tensor_of_dtype(dtype, shape, ...) \
    tni_tensor_of(__FILE__, __LINE__, dtype, shape, __VA_ARGS__)

/* The list macros of C. */
#ifndef TN_DIMS
#define TN_DIMS(...) (tn::int_list({__VA_ARGS__}).value)
#define TN_LIST(...) (tn::tensor_list({__VA_ARGS__}).value)
#define TN_FLOATS(...) (tn::float_list({__VA_ARGS__}).value)
#endif

#endif
#endif
