/* cxx_tensor.h - C++ only: tensors that own themselves, with operators and indices.
 *
 *     tn::tensor x = tn::tensor({{1, 2}, {3, 4}}) * 0.5;
 *     x[{0, tn::slice(0, 1)}] = 7;     x[x > 1] = 0;     if ((x == 0).any()) ...
 *     for (tn::tensor row : x) std::cout << row << '\n';
 *
 * A tn::tensor counts as one owner of a tn_tensor, in a scope or outside; copies share it. Objects
 * end before their context does, except that those that end after the last context do nothing:
 * static ones, after main has called tn_context_free(NULL). Errors
 * are as in C: a failed call gives an undefined tensor, and further calls fail until the error is
 * taken. With TN_EXCEPTIONS, defined before the include, functions of namespace tn throw tn::error
 * instead, which takes the error; C's names do not throw. Files with and without it may be linked
 * together, but not pass each other objects of namespace tn. */
#ifndef TNI_API_CXX_TENSOR_H
#define TNI_API_CXX_TENSOR_H

#include "beside.h"
#include "extend.h"
#include "ops/methods.h"

#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)
#include <iosfwd>
#include <new>
#ifdef TN_EXCEPTIONS
#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>
#endif

TNI_TN_BEGIN

/* --- errors ----------------------------------------------------------------------------------- */

#ifdef TN_EXCEPTIONS
/* What a failed call throws. what() is "file:line: message". */
class error : public std::runtime_error {
  public:
    tn_code code;
    const char *file; /* of the call; may be NULL */
    int line;
    error(const tn_error_info &e, const std::string &place)
        : std::runtime_error(place + (e.message ? e.message : "")), code(e.code), file(e.file),
          line(e.line), place_(place.size()) {}
    const char *message() const noexcept { return what() + place_; }

  private:
    size_t place_;
};
#endif

namespace detail {
#ifdef TN_EXCEPTIONS
inline std::string decimal(int64_t v) { /* std::to_string pins a shared library in memory */
    std::string text;
    for (uint64_t u = v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);; u /= 10) {
        text.insert(text.begin(), static_cast<char>('0' + u % 10));
        if (u < 10) break;
    }
    return v < 0 ? "-" + text : text;
}
/* An exception that left a hook, forward, function or a data set's get: C's error has its mark, a
 * number or the whole message of a tn::error, and the call that C's code came from throws it again,
 * also in another thread. Hidden, and without a destructor that runs at the end, so that a shared
 * library can be unloaded; the last few exceptions that no call asked for stay. */
struct TNI_OWN_COPY flying {
    std::exception_ptr exception;
    std::string mark;
    int line; /* of a tn::error; 0: of another exception */
    struct TNI_OWN_COPY kept {
        enum { ROOM = 16 };
        std::atomic<bool> busy;
        flying *at[ROOM];
        unsigned next;
        void enter() {
            while (busy.exchange(true, std::memory_order_acquire)) {}
        }
        void leave() { busy.store(false, std::memory_order_release); }
    };
    static kept &all() {
        static kept k; /* zeros */
        return k;
    }
    static void keep(const std::string &mark, int line) {
        flying f = {std::current_exception(), mark, line};
        flying *mine = new (std::nothrow) flying(f);
        kept &k = all();
        k.enter();
        std::swap(mine, k.at[k.next++ % kept::ROOM]);
        k.leave();
        delete mine; /* which may run code of the user */
    }
    /* The newest that e tells of, no longer kept; NULL: none. */
    static flying *take(const std::string &text, int line) {
        flying *found = nullptr;
        kept &k = all();
        k.enter();
        for (unsigned i = 1; i <= kept::ROOM && !found; i++) {
            flying *&f = k.at[(k.next - i) % kept::ROOM];
            if (f && f->mark.size() && text.find(f->mark) != text.npos &&
                (!f->line || f->line == line))
                std::swap(found, f);
        }
        k.leave();
        return found;
    }
    /* Keeps the exception that is being handled under a new number. */
    static long long numbered() {
        static std::atomic<long long> number;
        /* No other library in the process has the same: it has another address. */
        const long long mine =
            ++number * 1000000 + reinterpret_cast<intptr_t>(&number) / 16 % 1000000;
        keep("(exception " + decimal(mine) + ")", 0);
        return mine;
    }
};
[[noreturn]] inline void raise(const tn_error_info &e) {
    const std::string text = e.message ? e.message : "";
    flying *f = flying::take(text, e.line);
    if (f) {
        std::exception_ptr exception = f->exception;
        delete f;
        std::rethrow_exception(exception);
    }
    throw error(e, e.file ? e.file + (":" + decimal(e.line)) + ": " : "");
}
/* Throws the pending error, if there is one. */
inline void check() {
    tn_error_info e;
    if (tn_error_take(&e)) raise(e);
}
/* Runs the user's code for C, which no exception may reach: false with an error. */
template <class F>
inline bool call(F &f) {
    try {
        f();
        return true;
    } catch (const error &e) {
        flying::keep(e.message(), e.line);
        tn_error_set(e.code, e.file, e.line, "%s", e.message());
    } catch (const std::exception &e) {
        tn_error_set(TN_INVALID, nullptr, 0, "%s (exception %lld)", e.what(), flying::numbered());
    } catch (...) {
        tn_error_set(TN_INVALID, nullptr, 0, "an exception left a function (exception %lld)",
                     flying::numbered());
    }
    return false;
}
#else
inline void check() {}
template <class F>
inline bool call(F &f) {
    f();
    return true;
}
#endif
template <class F>
inline void drop(void *user) {
    delete static_cast<F *>(user);
}
template <class F>
inline F *copied(const F &f) {
    F *copy = new (std::nothrow) F(f);
    if (!copy) tn_error_set(TN_MEMORY, nullptr, 0, "out of memory for a function object");
    return copy;
}

/* The dtype of a C++ type, and whether its numbers are read exactly by C's readers. */
template <class T>
struct element {};
#define TNI_ELEMENT(T, DTYPE)                     \
    template <>                                   \
    struct element<T> {                           \
        static tn_dtype dtype() { return DTYPE; } \
    };
TNI_ELEMENT(bool, TN_BOOL)
TNI_ELEMENT(signed char, TN_I8)
TNI_ELEMENT(unsigned char, TN_U8)
TNI_ELEMENT(short, TN_I16)
TNI_ELEMENT(unsigned short, TN_U16)
TNI_ELEMENT(int, TN_I32)
TNI_ELEMENT(unsigned, TN_U32)
TNI_ELEMENT(long, (sizeof(long) == 8 ? TN_I64 : TN_I32))
TNI_ELEMENT(unsigned long, (sizeof(long) == 8 ? TN_U64 : TN_U32))
TNI_ELEMENT(long long, TN_I64)
TNI_ELEMENT(unsigned long long, TN_U64)
TNI_ELEMENT(float, TN_F32)
TNI_ELEMENT(double, TN_F64)
#undef TNI_ELEMENT

/* A number, or a list of these: {{1, 2}, {3, 4}}. */
struct nested {
    tn_scalar number;
    std::initializer_list<nested> list;
    bool is_list;
    template <class N>
    nested(N v, typename is_number<N>::type * = nullptr)
        : number(is_number<N>::scalar(v)), list(), is_list(false) {}
    nested(std::initializer_list<nested> l) : number(tn_none()), list(l), is_list(true) {}
};

/* An operand of an operator: a tensor or a number, and the line where it stands. */
struct operand {
    tn_tensor *t;
    tn_scalar number;
    site at;
    operand(const handle &h, site s = site::here()) : t(h.p_), number(), at(s) {}
    template <class N>
    operand(N v, typename is_number<N>::type * = nullptr, site s = site::here())
        : t(nullptr), number(is_number<N>::scalar(v)), at(s) {}
};

/* One of the things between the brackets of x[..]. */
struct ellipsis_t {};
struct newaxis_t {};
enum index_kind { AT, SLICE, NEWAXIS, ELLIPSIS, TENSOR };
struct index_item {
    index_kind kind;
    int64_t start, end, step;
    tn_tensor *t;
    site at;
    index_item(index_kind k, int64_t from, int64_t to, int64_t by, site s = site::here())
        : kind(k), start(from), end(to), step(by), t(nullptr), at(s) {}
    index_item(int i, site s = site::here())
        : kind(AT), start(i), end(0), step(1), t(nullptr), at(s) {}
    index_item(unsigned i, site s = site::here())
        : kind(AT), start(i), end(0), step(1), t(nullptr), at(s) {}
    index_item(long i, site s = site::here())
        : kind(AT), start(i), end(0), step(1), t(nullptr), at(s) {}
    index_item(unsigned long i, site s = site::here())
        : kind(AT), start(static_cast<int64_t>(i)), end(0), step(1), t(nullptr), at(s) {}
    index_item(long long i, site s = site::here())
        : kind(AT), start(i), end(0), step(1), t(nullptr), at(s) {}
    index_item(unsigned long long i, site s = site::here())
        : kind(AT), start(static_cast<int64_t>(i)), end(0), step(1), t(nullptr), at(s) {}
    index_item(ellipsis_t, site s = site::here())
        : kind(ELLIPSIS), start(0), end(0), step(1), t(nullptr), at(s) {}
    index_item(newaxis_t, site s = site::here())
        : kind(NEWAXIS), start(0), end(0), step(1), t(nullptr), at(s) {}
    index_item(const handle &h, site s = site::here())
        : kind(TENSOR), start(0), end(0), step(1), t(h.p_), at(s) {}
    index_item(bool) = delete;
};
} // namespace detail

/* What x[..] takes beside integers and tensors of integers or bools (torch's rules):
 *     x[{0, tn::slice(1, 3)}]   x[{tn::ellipsis, -1}]   x[{tn::slice(), tn::newaxis}] */
inline detail::index_item slice(int64_t start = TN_NONE, int64_t end = TN_NONE, int64_t step = 1,
                                site at = site::here()) {
    return detail::index_item(detail::SLICE, start, end, step, at);
}
static const detail::ellipsis_t ellipsis = {};
static const detail::newaxis_t newaxis = {};

class indexed;

/* --- tensor ----------------------------------------------------------------------------------- */

class tensor : public methods {
    typedef detail::operand operand;

  public:
    /* Undefined: as None, where an argument may be absent. */
    tensor() noexcept { p_ = nullptr; }
    /* One more owner of t, which may be NULL. */
    explicit tensor(tn_tensor *t) { p_ = t ? tn_retain(t) : nullptr; }
    /* Owns what a function of C returned as new, which leaves its scope. */
    static tensor take(tn_tensor *fresh) {
        tensor t;
        if (!fresh) detail::check();
        t.p_ = fresh ? tn_take(fresh) : nullptr;
        return t;
    }
    /* The numbers of nested lists, as torch.tensor: int64 if all are integers, bool if all are
     * bools, else the default dtype.     tn::tensor({{1, 2}, {3, 4}}, TN_F64) */
    tensor(std::initializer_list<detail::nested> l, tn_dtype dtype = TN_NO_DTYPE,
           site at = site::here());
    /* A number without dimensions. */
    template <class N>
    explicit tensor(N v, tn_dtype dtype = TN_NO_DTYPE, site at = site::here(),
                    typename is_number<N>::type * = nullptr) {
        const tn_scalar s = is_number<N>::scalar(v);
        if (dtype == TN_NO_DTYPE && s.kind == TN_KIND_BOOL) dtype = TN_BOOL;
        p_ = take(tn_tensor_of_at(at.file, at.line, dtype, tn_empty_dims(), &s, 1)).release();
    }

    tensor(const tensor &o) { p_ = o.p_ ? tn_retain(o.p_) : nullptr; }
    tensor(tensor &&o) noexcept {
        p_ = o.p_;
        o.p_ = nullptr;
    }
    ~tensor() {
        if (p_) tn_release(p_);
    }
    tensor &operator=(const tensor &o) {
        tensor t(o);
        return swap(t);
    }
    tensor &operator=(tensor &&o) noexcept {
        tensor t(static_cast<tensor &&>(o));
        return swap(t);
    }
    tensor &swap(tensor &o) noexcept {
        tn_tensor *p = p_;
        p_ = o.p_;
        o.p_ = p;
        return *this;
    }

    /* For functions of C: the pointer, borrowed from this object, or with its ownership. */
    tn_tensor *get() const noexcept { return p_; }
    tn_tensor *release() noexcept {
        tn_tensor *p = p_;
        p_ = nullptr;
        return p;
    }
    bool defined() const noexcept { return p_ != nullptr; }

    /* Reading, as the functions of C of these names; dim is torch's name for their number. */
    int64_t dim() const { return tn_ndim(p_); }
    int64_t numel() const { return tn_numel(p_); }
    int64_t size(int d, site at = site::here()) const {
        return has_dim(d, at) ? tn_size(p_, d) : 0;
    }
    int_list sizes() const { return tn_shape(p_); }
    int64_t stride(int d, site at = site::here()) const {
        return has_dim(d, at) ? tn_stride(p_, d) : 0;
    }
    int_list strides() const { return tn_strides(p_); }
    tn_dtype dtype() const { return tn_dtype_of(p_); }
    tn_device_id device() const { return tn_device_of(p_); }
    bool is_contiguous() const { return tn_is_contiguous(p_); }
    bool is_same(const tensor &o) const { return p_ == o.p_; }

    /* The one element, as a double unless another type is asked for; TYPE and INVALID as tn_item.
     *     loss.item()     labels[0].item<int>() */
    template <class T = double>
    T item(site at = site::here()) const;
    /* True if the one element is not zero; an undefined tensor is false. */
    explicit operator bool() const;
    /* The first element, for elements of type T; NULL with TYPE if the dtype is another. */
    template <class T>
    T *data(site at = site::here()) const {
        if (!has<T>(at)) return nullptr;
        return static_cast<T *>(tn_data(p_));
    }
    /* All elements in row-major order, in a container of numbers with a size: any dtype. Floats are
     * truncated to integers; INVALID if an element does not fit.
     *     std::vector<float> v = x.as<std::vector<float>>() */
    template <class C>
    C as(site at = site::here()) const {
        C c(static_cast<size_t>(tn_numel(p_)));
        copy_to(c, at);
        return c;
    }
    template <class C>
    bool copy_to(C &c, site at = site::here()) const;

    /* Gradients; see autograd.h. */
    tensor requires_grad_(flag wanted = true, site at = site::here()) const {
        if (!tn_requires_grad_at(at.file, at.line, p_, wanted.value)) detail::check();
        return *this;
    }
    bool requires_grad() const { return tn_needs_grad(p_); }
    bool is_leaf() const { return tn_is_leaf(p_); }
    tensor grad() const { return tensor(tn_grad_of(p_)); } /* undefined if there is none */
    bool set_grad(const tensor &g, site at = site::here()) const {
        return told(tn_set_grad_at(at.file, at.line, p_, g.p_));
    }
    void zero_grad() const { tn_zero_grad(p_); }
    bool retain_grad(site at = site::here()) const {
        return told(tn_retain_grad_at(at.file, at.line, p_));
    }
    /* x.backward()     x.backward(seed)     x.backward({}, true): retain_graph */
    bool backward(tensor_ref gradient = tensor_ref(), bool retain_graph = false,
                  bool create_graph = false, site at = site::here()) const {
        tn_backward_args a = {gradient.value, {nullptr, 0}, retain_graph, create_graph, p_};
        return told(tn_backward_at(at.file, at.line, &a));
    }
    /* Adds a function of a tensor, which sees the gradient and may return another; see tn_hook_add.
     *     int64_t n = x.hook([](tn::tensor g) { return g * 2; }); */
    template <class F>
    int64_t hook(F f, site at = site::here()) const;
    bool remove_hook(int64_t number) const { return tn_hook_remove(p_, number); }

    /* x[i], x[mask], x[{0, tn::slice(1, 3)}]: a view, or a copy if there is a tensor among them.
     * Assigning to it writes into x:     x[0] = 1;     x[x < 0] = 0;     x[{0, 1}] += y; */
    indexed operator[](detail::index_item i) const;
    indexed operator[](std::initializer_list<detail::index_item> l) const;

    /* In place. Those of a temporary give an owner, as methods do: for (auto row : f() += 1) ... */
    const tensor &operator+=(operand o) const &;
    const tensor &operator-=(operand o) const &;
    const tensor &operator*=(operand o) const &;
    const tensor &operator/=(operand o) const &;
    tensor operator+=(operand o) const &&;
    tensor operator-=(operand o) const &&;
    tensor operator*=(operand o) const &&;
    tensor operator/=(operand o) const &&;

    class iterator;
    /* x[0], x[1], ..:     for (tn::tensor row : x) */
    iterator begin(site at = site::here()) const;
    iterator end(site at = site::here()) const;

  private:
    static bool told(bool ok) {
        if (!ok) detail::check();
        return ok;
    }
    bool has_dim(int d, site at) const {
        const int n = tn_ndim(p_);
        if (d >= -n && d < n) return true;
        return told(tn_error_set(p_ ? TN_INDEX : TN_INVALID, at.file, at.line,
                                 "dimension %d of a tensor of %d dimensions", d, n));
    }
    template <class T>
    bool has(site at) const {
        if (p_ && tn_dtype_of(p_) == detail::element<T>::dtype()) return true;
        return told(tn_error_set(TN_TYPE, at.file, at.line, "data: the elements are %s, not %s",
                                 p_ ? tn_dtype_name(tn_dtype_of(p_)) : "undefined",
                                 tn_dtype_name(detail::element<T>::dtype())));
    }
    bool read(float *to, int64_t n, site at) const {
        return tn_read_f32_at(at.file, at.line, p_, to, n);
    }
    bool read(double *to, int64_t n, site at) const {
        return tn_read_f64_at(at.file, at.line, p_, to, n);
    }
    bool read(long *to, int64_t n, site at) const { return read_long(to, n, at); }
    bool read(long long *to, int64_t n, site at) const { return read_long(to, n, at); }
    template <class T>
    bool read_long(T *to, int64_t n, site at) const;
    template <class T>
    bool read(T *to, int64_t n, site at) const;
    template <class N, class T>
    bool read_by(bool (*reader)(const char *, int, const tn_tensor *, N *, int64_t), T *to,
                 int64_t n, site at) const;
};

template <>
inline double tensor::item<double>(site at) const {
    const double v = tn_item_at(at.file, at.line, p_);
    if (v == 0) detail::check();
    return v;
}
template <>
inline int64_t tensor::item<int64_t>(site at) const {
    if (tni_dtype_kind(tn_dtype_of(p_)) == 'f') {
        const double x = item<double>(at), bound = 9.2233720368547758e18;
        if (x >= -bound && x < bound) return static_cast<int64_t>(x);
        told(tn_error_set(TN_INVALID, at.file, at.line,
                          "item: %g does not fit a number of type int64", x));
        return 0;
    }
    const int64_t v = tn_item_int_at(at.file, at.line, p_);
    if (v == 0) detail::check();
    if (v >= 0 || tn_dtype_of(p_) != TN_U64) return v;
    told(tn_error_set(TN_INVALID, at.file, at.line,
                      "item: %llu does not fit a number of type int64",
                      static_cast<unsigned long long>(v)));
    return 0;
}
template <>
inline bool tensor::item<bool>(site at) const {
    const tn_scalar s = tn_item_scalar_at(at.file, at.line, p_);
    detail::check();
    return s.integer != 0 || s.real < 0 || s.real > 0 || s.real != s.real || s.imaginary < 0 ||
           s.imaginary > 0 || s.imaginary != s.imaginary;
}
inline tensor::operator bool() const { return p_ && item<bool>(site::here(nullptr, 0)); }
template <class T>
inline T tensor::item(site at) const {
    if (detail::element<T>::dtype() == TN_F32) return static_cast<T>(item<double>(at));
    if (detail::element<T>::dtype() == TN_U64 && tn_dtype_of(p_) == TN_U64) {
        const int64_t bits = tn_item_int_at(at.file, at.line, p_);
        if (bits == 0) detail::check();
        return static_cast<T>(bits);
    }
    const int64_t v = item<int64_t>(at);
    const T result = static_cast<T>(v);
    const bool is_signed = static_cast<T>(-1) < static_cast<T>(1);
    if (static_cast<int64_t>(result) == v && (is_signed || v >= 0)) return result;
    told(tn_error_set(TN_INVALID, at.file, at.line, "item: %lld does not fit a number of type %s",
                      (long long)v, tn_dtype_name(detail::element<T>::dtype())));
    return 0;
}

TNI_TN_END
#endif

#endif
