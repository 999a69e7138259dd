/* cxx_operators.h - C++ only: lists of tensors, operators, indices, iteration, printing.
 *
 *     y = 2 * x - 1;   y += x / 3;   mask = (x > 0) & (x < 1);   std::cout << y;
 *
 * Comparisons go element by element and give bools, as in torch. Shapes are broadcast, dtypes
 * promoted. */
#ifndef TNI_API_CXX_OPERATORS_H
#define TNI_API_CXX_OPERATORS_H

#include "cxx_tensor.h"

#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)
TNI_TN_BEGIN

/* --- lists ------------------------------------------------------------------------------------ */

/* A list of tensors that owns itself; what functions return that return several. Its size is fixed.
 *     tn::tensors parts = x.split(2);     for (const tn::tensor &part : parts) ... */
class tensors {
    tensor *at_;
    size_t n_;

  public:
    tensors() noexcept : at_(nullptr), n_(0) {}
    /* n undefined tensors, to be assigned; none, with MEMORY, if there is no memory for them. */
    explicit tensors(size_t n) : at_(new (std::nothrow) tensor[n]), n_(at_ ? n : 0) {
        if (!at_ && !tn_error_set(TN_MEMORY, nullptr, 0, "out of memory for a list of tensors"))
            detail::check();
    }
    tensors(const tensor &one) : tensors(static_cast<size_t>(1)) {
        if (n_) at_[0] = one;
    }
    tensors(std::initializer_list<tensor> l) : tensors(l.size()) {
        for (size_t i = 0; i < n_; i++) at_[i] = l.begin()[i];
    }
    tensors(std::initializer_list<tensor_ref> l) : tensors(l.size()) { /* None and pointers, too */
        for (size_t i = 0; i < n_; i++) at_[i] = tensor(l.begin()[i].value);
    }
    tensors(const tensors &o) : tensors(o.n_) {
        for (size_t i = 0; i < n_; i++) at_[i] = o.at_[i];
    }
    tensors(tensors &&o) noexcept : at_(o.at_), n_(o.n_) {
        o.at_ = nullptr;
        o.n_ = 0;
    }
    tensors &operator=(tensors o) noexcept {
        tensor *at = at_;
        size_t n = n_;
        at_ = o.at_, n_ = o.n_;
        o.at_ = at, o.n_ = n;
        return *this;
    }
    ~tensors() { delete[] at_; }
    /* Owns the members of a new list, which ends. */
    static tensors take(tn_list l) {
        if (l.n < 0 || !l.at) detail::check();
        tensors all(l.n > 0 && l.at ? static_cast<size_t>(l.n) : 0);
        for (size_t i = 0; i < all.n_; i++) {
            all.at_[i] = tensor(l.at[i]);
        }
        if (l.at) (tn_list_free)(l);
        return all;
    }

    size_t size() const noexcept { return n_; }
    tensor *data() noexcept { return at_; }
    const tensor *data() const noexcept { return at_; }
    tensor &operator[](size_t i) { return at_[i]; }
    const tensor &operator[](size_t i) const { return at_[i]; }
    tensor *begin() noexcept { return at_; }
    tensor *end() noexcept { return at_ + n_; }
    const tensor *begin() const noexcept { return at_; }
    const tensor *end() const noexcept { return at_ + n_; }
};

namespace detail {
inline tensor as_objects::made(tn_tensor *fresh) { return tensor::take(fresh); }
inline tensor as_objects::made(tn_tensor *result, tensor_ref out) {
    if (!out.value) return tensor::take(result);
    if (!result) check();
    return tensor(result);
}
inline tensor as_objects::written(tn_tensor *self) {
    if (!self) check();
    return tensor(self);
}
inline tensors as_objects::made(tn_list fresh) { return tensors::take(fresh); }
inline bool as_objects::made(bool result) {
    if (!result) check();
    return result;
}

/* --- numbers in nested lists ------------------------------------------------------------------ */

struct numbers {
    int64_t size[TN_MAX_DIMS], n;
    int ndim;
    bool whole, truth, ragged;
    /* The shape of the lists, by the first of each depth, and the kind of all numbers. */
    numbers(const nested &l) : size(), n(0), ndim(0), whole(true), truth(true), ragged(false) {
        for (const nested *at = &l; at->is_list && ndim < TN_MAX_DIMS; at = at->list.begin()) {
            size[ndim++] = static_cast<int64_t>(at->list.size());
            if (!at->list.size()) break;
        }
        look(l, 0);
    }
    void look(const nested &l, int depth) {
        if (!l.is_list) {
            n++;
            whole = whole && l.number.kind != TN_KIND_FLOAT;
            truth = truth && l.number.kind == TN_KIND_BOOL;
            ragged = ragged || depth != ndim || l.number.kind == TN_KIND_COMPLEX;
            return;
        }
        ragged = ragged || depth >= ndim || size[depth] != static_cast<int64_t>(l.list.size());
        for (const nested &each : l.list)
            if (!ragged) look(each, depth + 1);
    }
    template <class T>
    static void write(const nested &l, T *&to, bool integers) {
        if (!l.is_list)
            *to++ = integers ? static_cast<T>(l.number.integer)
                             : static_cast<T>(l.number.kind == TN_KIND_FLOAT
                                                  ? l.number.real
                                                  : static_cast<double>(l.number.integer));
        else
            for (const nested &each : l.list) write(each, to, integers);
    }
};
template <class T>
inline tn_tensor *nested_tensor(const nested &l, const numbers &of, tn_dtype dtype, site at) {
    const size_t bytes = (of.n > 0 ? static_cast<size_t>(of.n) : 1) * sizeof(T);
    T *all = static_cast<T *>(tn_alloc(bytes)), *end = all;
    if (!all) return nullptr;
    numbers::write(l, end, element<T>::dtype() == TN_I64);
    tn_tensor *t =
        tn_from_at(at.file, at.line, all, tn_ints_of(of.size, of.ndim), element<T>::dtype());
    tn_alloc_free(all, bytes);
    if (dtype == element<T>::dtype()) return t;
    const tn_to_dtype_args to = {false, false, t, dtype};
    tn_tensor *converted = tn_to_dtype_at(at.file, at.line, &to);
    (tn_free)(t);
    return converted;
}
} // namespace detail

inline tensor::tensor(std::initializer_list<detail::nested> l, tn_dtype dtype, site at) {
    const detail::nested all(l);
    const detail::numbers of(all);
    p_ = nullptr;
    if (of.ragged) {
        tn_error_set(TN_INVALID, at.file, at.line,
                     "tensor: expected lists of one length at each depth, at most %d deep",
                     TN_MAX_DIMS);
        detail::check();
        return;
    }
    if (dtype == TN_NO_DTYPE)
        dtype = of.n && of.truth ? TN_BOOL : of.n && of.whole ? TN_I64 : tn_default_dtype();
    p_ = take(of.whole ? detail::nested_tensor<int64_t>(all, of, dtype, at)
                       : detail::nested_tensor<double>(all, of, dtype, at))
             .release();
}

/* --- elements --------------------------------------------------------------------------------- */

template <class T>
inline bool tensor::read_long(T *to, int64_t n, site at) const {
    if (sizeof(T) == sizeof(int64_t) && tn_dtype_of(p_) == TN_I64)
        return tn_read_i64_at(at.file, at.line, p_, static_cast<int64_t *>(static_cast<void *>(to)),
                              n);
    return read<T>(to, n, at);
}
namespace detail {
/* v as a T; false if that has no such number. An integer below zero of uint64 is one beyond. */
template <class T>
inline bool fits(int64_t v, bool is_uint64, T &to) {
    const bool is_signed = static_cast<T>(-1) < static_cast<T>(1);
    to = static_cast<T>(v);
    if (is_uint64 && v < 0) return !is_signed && sizeof(T) == sizeof v;
    return static_cast<int64_t>(to) == v && (is_signed || v >= 0);
}
template <class T>
inline bool fits(double v, bool, T &to) {
    const double half = 9223372036854775808.0; /* 2^63 */
    if (v >= -half && v < half) return fits(static_cast<int64_t>(v), false, to);
    to = static_cast<T>(v >= half && v < 2 * half ? static_cast<uint64_t>(v) : 0);
    return v >= half && v<2 * half &&static_cast<T>(-1)> static_cast<T>(1) && sizeof(T) == 8;
}
inline bool fits(int64_t v, bool, bool &to) {
    to = v != 0;
    return true;
}
inline bool fits(double v, bool, bool &to) {
    to = v < 0 || v > 0 || v != v;
    return true;
}
} // namespace detail
/* Other types by a copy in N, int64 or double. */
template <class N, class T>
inline bool tensor::read_by(bool (*reader)(const char *, int, const tn_tensor *, N *, int64_t),
                            T *to, int64_t n, site at) const {
    const size_t bytes = (n > 0 ? static_cast<size_t>(n) : 1) * sizeof(N);
    const bool is_uint64 = tn_dtype_of(p_) == TN_U64;
    N *all = static_cast<N *>(tn_alloc(bytes));
    bool ok = all && reader(at.file, at.line, p_, all, n);
    for (int64_t i = 0; ok && i < n; i++)
        if (!detail::fits(all[i], is_uint64, to[i]))
            ok = tn_error_set(TN_INVALID, at.file, at.line,
                              "element %lld, %.17g, does not fit the numbers of the container",
                              static_cast<long long>(i),
                              is_uint64 ? static_cast<double>(static_cast<uint64_t>(all[i]))
                                        : static_cast<double>(all[i]));
    if (all) tn_alloc_free(all, bytes);
    return ok;
}
template <class T>
inline bool tensor::read(T *to, int64_t n, site at) const {
    return tni_dtype_kind(tn_dtype_of(p_)) == 'f' ? read_by<double>(&tn_read_f64_at, to, n, at)
                                                  : read_by<int64_t>(&tn_read_i64_at, to, n, at);
}
template <class C>
inline bool tensor::copy_to(C &c, site at) const {
    return told(c.size() ? read(&c[0], static_cast<int64_t>(c.size()), at)
                         : read(static_cast<double *>(nullptr), 0, at));
}

namespace detail {
template <class T>
struct array_of {
    const T *at;
    size_t n;
    const T *data() const { return at; }
    size_t size() const { return n; }
};
} // namespace detail
/* A new tensor with a copy of the elements of a container; its shape is (n) if it is not
 * given.     std::vector<float> v = ...; tn::tensor x = tn::from(v, {2, 3}); */
template <class C>
inline tensor from(const C &c, int_list shape = int_list(tn_no_dims()), site at = site::here(),
                   decltype(detail::data_of(detail::some<C>())) = nullptr) {
    const int64_t n = static_cast<int64_t>(c.size());
    if (shape.value.n < 0) shape.value = tn_ints_of(&n, 1);
    int64_t count = 1;
    for (int64_t i = 0; i < shape.value.n; i++) {
        const int64_t size = shape.value.at[i];
        if (size > 0 && count > n / size)
            count = n + 1; /* more than the container has */
        else
            count *= size;
    }
    if (count != n) {
        tn_error_set(TN_INVALID, at.file, at.line,
                     "from: the container has %lld elements, the shape another number",
                     (long long)n);
        detail::check();
        return tensor();
    }
    return tensor::take(
        tn_from_at(at.file, at.line, c.data(), shape.value,
                   detail::element<typename detail::plain<decltype(c.data())>::type>::dtype()));
}
/* The same of an array: float v[6]; tn::from(v, {2, 3}). */
template <class T, size_t N>
inline tensor from(const T (&v)[N], int_list shape = int_list(tn_no_dims()),
                   site at = site::here()) {
    const detail::array_of<T> all = {v, N};
    return from(all, shape, at);
}
/* A copy of as many elements as the shape has, from data on. */
template <class P>
inline tensor from(const P &data, int_list shape, site at = site::here(),
                   typename detail::plain<P>::type * = nullptr) {
    return tensor::take(tn_from_at(at.file, at.line, data, shape.value,
                                   detail::element<typename detail::plain<P>::type>::dtype()));
}

namespace detail {
template <class T, class F>
struct wrapped { /* memory and what releases it */
    F release;
    T *data;
    void operator()() { release(data); }
    static void run(void *data, void *user) {
        wrapped *w = static_cast<wrapped *>(user);
        w->data = static_cast<T *>(data);
        call(*w); /* an exception waits for the next call */
        delete w;
    }
};
} // namespace detail
/* A tensor over memory of the caller, without a copy. It must stay valid until release(data) is
 * called, once, or without one as long as tensors share it. An exception that leaves release is
 * thrown by the thread's next call of tn.     tn::wrap(frame, {480, 640}) */
template <class T, class F>
inline tensor wrap(T *data, int_list shape, F release, site at = site::here()) {
    typedef detail::wrapped<T, F> kept;
    kept *k = new (std::nothrow) kept{release, data};
    tn_wrap_options o = tn_wrap_options();
    o.release = &kept::run;
    o.user = k;
    tn_tensor *t =
        k ? tn_wrap_at(at.file, at.line, data, shape.value, detail::element<T>::dtype(), &o)
          : nullptr;
    if (!k) tn_error_set(TN_MEMORY, at.file, at.line, "wrap: out of memory");
    if (!t) delete k;
    return tensor::take(t);
}
template <class T>
inline tensor wrap(T *data, int_list shape, site at = site::here()) {
    return tensor::take(
        tn_wrap_at(at.file, at.line, data, shape.value, detail::element<T>::dtype(), nullptr));
}

/* --- operators -------------------------------------------------------------------------------- */

namespace detail {
/* A number to the left of an operator. */
struct left_number {
    tn_scalar number;
    site at;
    template <class N>
    left_number(N v, typename is_number<N>::type * = nullptr, site s = site::here())
        : number(is_number<N>::scalar(v)), at(s) {}
    /* As a tensor without dimensions, which takes no part in promotion within its kind. */
    tensor lifted() const {
        return tensor::take(tn_number_at(
            at.file, at.line, number.kind == TN_KIND_BOOL ? TN_BOOL : TN_NO_DTYPE, &number));
    }
};
} // namespace detail

/* Templates, so that only those in use are compiled. `a op b` is by the row `name`, and a number
 * before a tensor by `other`. The text in brackets is what stands before self in the row's
 * arguments. */
#define TNI_BINARY(op, name, other, ...)                                                  \
    template <class K = as_objects>                                                       \
    inline typename K::one operator op(const tensor &a, detail::operand b) {              \
        return K::call(tn_##name##_at, b.at, {__VA_ARGS__, a.get(), b.t, b.number});      \
    }                                                                                     \
    template <class K = as_objects>                                                       \
    inline typename K::one operator op(detail::left_number a, const tensor &b) {          \
        return K::call(tn_##other##_at, a.at, {__VA_ARGS__, b.get(), nullptr, a.number}); \
    }
/* One function for both, since C++20 takes each == in both orders. */
#define TNI_EQUAL(op, name)                                                                       \
    template <class K = as_objects>                                                               \
    inline typename K::one operator op(detail::operand a, detail::operand b) {                    \
        const bool turned = a.number.kind != 0;                                                   \
        return K::call(                                                                           \
            tn_##name##_at, b.at,                                                                 \
            {nullptr, turned ? b.t : a.t, turned ? nullptr : b.t, turned ? a.number : b.number}); \
    }
/* And a number before a tensor as a tensor. */
#define TNI_BINARY_LIFTED(op, name)                                              \
    template <class K = as_objects>                                              \
    inline typename K::one operator op(const tensor &a, detail::operand b) {     \
        return K::call(tn_##name##_at, b.at, {nullptr, a.get(), b.t, b.number}); \
    }                                                                            \
    template <class K = as_objects>                                              \
    inline typename K::one operator op(detail::left_number a, const tensor &b) { \
        return a.lifted() op detail::operand(b, a.at);                           \
    }
#define TNI_INPLACE(op, name, ...)                                                 \
    inline const tensor &tensor::operator op(operand o) const & {                  \
        const tn_##name##_args args = {__VA_ARGS__, p_, o.t, o.number};            \
        if (!tn_##name##_inplace_at(o.at.file, o.at.line, &args)) detail::check(); \
        return *this;                                                              \
    }                                                                              \
    inline tensor tensor::operator op(operand o) const && {                        \
        return static_cast<const tensor &>(*this) op o;                            \
    }
#define TNI_UNARY(op, name)                                   \
    template <class K = as_objects>                           \
    inline typename K::one operator op(detail::operand a) {   \
        return K::call(tn_##name##_at, a.at, {nullptr, a.t}); \
    }
TNI_UNARY(-, neg)
TNI_UNARY(~, bitwise_not)
TNI_BINARY(+, add, add, nullptr, 1)
TNI_BINARY(-, sub, rsub, nullptr, 1)
TNI_BINARY(*, mul, mul, nullptr)
TNI_EQUAL(==, eq)
TNI_EQUAL(!=, ne)
TNI_BINARY(<, lt, gt, nullptr)
TNI_BINARY(<=, le, ge, nullptr)
TNI_BINARY(>, gt, lt, nullptr)
TNI_BINARY(>=, ge, le, nullptr)
TNI_BINARY(&, bitwise_and, bitwise_and, nullptr)
TNI_BINARY(|, bitwise_or, bitwise_or, nullptr)
TNI_BINARY(^, bitwise_xor, bitwise_xor, nullptr)
TNI_BINARY_LIFTED(/, div)
TNI_BINARY_LIFTED(%, remainder)
TNI_BINARY_LIFTED(<<, bitwise_left_shift)
TNI_BINARY_LIFTED(>>, bitwise_right_shift)
TNI_INPLACE(+=, add, nullptr, 1)
TNI_INPLACE(-=, sub, nullptr, 1)
TNI_INPLACE(*=, mul, nullptr)
TNI_INPLACE(/=, div, nullptr)
#undef TNI_UNARY
#undef TNI_BINARY
#undef TNI_EQUAL
#undef TNI_BINARY_LIFTED
#undef TNI_INPLACE

/* --- indices ---------------------------------------------------------------------------------- */

/* x[..]: a tensor that writes into x when it is assigned to. To point a variable at another tensor,
 * declare it as tn::tensor. */
class indexed : public tensor {
    tensor view_;              /* x at the integers and slices */
    tensor item_[TN_MAX_DIMS]; /* the tensors among the indices, as tn_index takes them */
    int n_;                    /* how many of item_ count; 0: this is view_ */
    site at_;

    static bool is_mask(const tn_tensor *t) {
        return tn_dtype_of(t) == TN_BOOL || tn_dtype_of(t) == TN_U8;
    }
    /* How many dimensions an index stands for. */
    static int takes(const detail::index_item &i) {
        if (i.kind == detail::NEWAXIS || i.kind == detail::ELLIPSIS) return 0;
        return i.kind == detail::TENSOR && is_mask(i.t) ? tn_ndim(i.t) : 1;
    }
    bool wrong(tn_code code, const char *text) {
        tn_error_set(code, at_.file, at_.line, "index: %s", text);
        view_ = tensor();
        detail::check();
        return false;
    }
    /* Whether the indices fit x; after: how many dimensions those behind an ellipsis take. */
    bool fits(const detail::index_item *at, size_t n, int &after) {
        int all = 0, ellipses = 0;
        after = 0;
        if (!view_.defined()) return wrong(TN_INVALID, "the tensor is undefined");
        for (size_t i = 0; i < n; i++) {
            if (at[i].kind == detail::TENSOR && !at[i].t)
                return wrong(TN_INVALID, "a tensor among the indices is undefined");
            all += takes(at[i]);
            if (at[i].kind == detail::ELLIPSIS) ellipses++;
            if (ellipses) after += takes(at[i]);
        }
        if (ellipses > 1) return wrong(TN_INDEX, "more than one ellipsis");
        return all <= tn_ndim(view_.get()) || wrong(TN_INDEX, "too many indices for the tensor");
    }
    /* d: the dimension of view_ that is next; masked: how many have no place in item_, because a
     * mask of k dimensions takes one. */
    bool step(const detail::index_item &i, int &d, int &masked, int after) {
        switch (i.kind) {
        case detail::AT: view_ = view_.select(d, i.start, i.at); break;
        case detail::SLICE:
            if (i.start != TN_NONE || i.end != TN_NONE || i.step != 1)
                view_ = tn::slice(view_, d, i.start, i.end, i.step, i.at);
            d++;
            break;
        case detail::NEWAXIS: view_ = view_.unsqueeze(d++, i.at); break;
        case detail::ELLIPSIS: d = tn_ndim(view_.get()) - after; break;
        case detail::TENSOR: {
            const bool flag = is_mask(i.t) && !tn_ndim(i.t); /* a mask of a dimension of size 1 */
            if (flag) view_ = view_.unsqueeze(d, i.at);
            if (!view_.defined()) return false;
            item_[d - masked] = flag ? tensor(i.t).unsqueeze(0, i.at) : tensor(i.t);
            n_ = d - masked + 1;
            masked += flag ? 0 : takes(i) - 1;
            d += flag ? 1 : takes(i);
            break;
        }
        }
        return view_.defined();
    }
    tn_tensors list(tn_tensor **at) const {
        for (int i = 0; i < n_; i++) at[i] = item_[i].get();
        return tn_tensors_of(at, n_);
    }
    void put(const tensor &v) const {
        tn_tensor *at[TN_MAX_DIMS];
        const tn_index_put_args put = {nullptr, false, view_.get(), list(at), v.get()};
        const tn_copy_args copy = {view_.get(), v.get()};
        if (!(n_ ? tn_index_put_inplace_at(at_.file, at_.line, &put)
                 : tn_copy_inplace_at(at_.file, at_.line, &copy)))
            detail::check();
    }
    void put(tn_scalar s) const {
        const tn_fill_args fill = {view_.get(), s};
        if (n_)
            put(tensor::take(tn_number_at(at_.file, at_.line, tn_dtype_of(get()), &s)));
        else if (!tn_fill_inplace_at(at_.file, at_.line, &fill))
            detail::check();
    }
    /* The elements at tensors are a copy, which a variable takes again before and after a write. */
    const indexed &renewed() {
        tn_tensor *list_at[TN_MAX_DIMS];
        const tn_index_args a = {view_.get(), list(list_at)};
        if (n_) static_cast<tensor &>(*this) = take(tn_index_at(at_.file, at_.line, &a));
        return *this;
    }

  public:
    indexed(const tensor &x, const detail::index_item *at, size_t n)
        : view_(x), n_(0), at_(n ? at->at : site::here(nullptr, 0)) {
        int d = 0, masked = 0, after;
        if (!fits(at, n, after)) return;
        for (size_t i = 0; i < n; i++)
            if (!step(at[i], d, masked, after)) return;
        if (!n_) static_cast<tensor &>(*this) = view_;
        renewed();
    }
    indexed(const indexed &) = default;
    /* x[i] = v, and i = v of a variable. A view is written in place, elements at tensors are
     * computed and put back. */
    void operator=(const tensor &v) && { put(v); }
    void operator=(const indexed &v) && { put(v); }
    template <class N>
    typename detail::when<typename is_number<N>::type>::type operator=(N v) && {
        put(is_number<N>::scalar(v));
    }
    const indexed &operator=(const tensor &v) & {
        put(v);
        return renewed();
    }
    const indexed &operator=(const indexed &v) & {
        put(v);
        return renewed();
    }
    template <class N>
    typename detail::when<typename is_number<N>::type, const indexed &>::type operator=(N v) & {
        put(is_number<N>::scalar(v));
        return renewed();
    }
#define TNI_COMPOUND(op, compound)                          \
    void operator compound(detail::operand o) && {          \
        if (n_)                                             \
            put(static_cast<const tensor &>(*this) op o);   \
        else                                                \
            static_cast<const tensor &>(*this) compound(o); \
    }                                                       \
    const indexed &operator compound(detail::operand o) & { \
        renewed();                                          \
        static_cast<indexed &&>(*this) compound o;          \
        return renewed();                                   \
    }
    TNI_COMPOUND(+, +=)
    TNI_COMPOUND(-, -=)
    TNI_COMPOUND(*, *=)
    TNI_COMPOUND(/, /=)
#undef TNI_COMPOUND
};
inline indexed tensor::operator[](detail::index_item i) const { return indexed(*this, &i, 1); }
inline indexed tensor::operator[](std::initializer_list<detail::index_item> l) const {
    return indexed(*this, l.begin(), l.size());
}

/* --- iteration and printing ------------------------------------------------------------------- */

class tensor::iterator {
    tensor of_;  /* an owner, since a range may be a temporary */
    tensor row_; /* where it stands, for `auto &` */
    int64_t i_;
    site at_;

  public:
    iterator(const tensor &of, int64_t i, site at) : of_(of), i_(i), at_(at) {}
    tensor &operator*() & { return row_ = of_.select(0, i_, at_); }
    tensor operator*() const & { return of_.select(0, i_, at_); } /* of a temporary, too */
    iterator &operator++() {
        i_++;
        return *this;
    }
    bool operator!=(const iterator &o) const { return i_ != o.i_; }
    bool operator==(const iterator &o) const { return i_ == o.i_; }
};
inline tensor::iterator tensor::begin(site at) const {
    if (p_ && !dim())
        told(tn_error_set(TN_INVALID, at.file, at.line, "iteration over a tensor of 0 dimensions"));
    return iterator(*this, 0, at);
}
inline tensor::iterator tensor::end(site at) const {
    return iterator(tensor(), dim() ? tn_size(p_, 0) : 0, at);
}

/* What tn_print writes, for std::ostream. */
template <class T>
inline std::basic_ostream<char, T> &operator<<(std::basic_ostream<char, T> &s, const tensor &t) {
    char *text = t.defined() ? tn_to_text_at(nullptr, 0, t.get(), nullptr) : nullptr;
    s << (text ? text : "tensor()");
    if (text) tn_alloc_free(text, detail::length(text) + 1);
    if (!text && t.defined()) detail::check();
    return s;
}
/* Sizes as torch prints them: [2, 3]. */
template <class T>
inline std::basic_ostream<char, T> &operator<<(std::basic_ostream<char, T> &s, const int_list &l) {
    s << "[";
    for (size_t i = 0; i < l.size(); i++) s << (i ? ", " : "") << l[i];
    return s << "]";
}

TNI_TN_END
#endif

#endif
