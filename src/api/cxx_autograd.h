/* cxx_autograd.h - C++ only: scopes and modes as guards, gradients, hooks, functions of your own.
 *
 *     { tn::no_grad guard;  w -= 0.1 * w.grad(); }
 *     tn::tensors g = tn::grad({loss}, {w, b});
 *
 * Guards end with their block, by return and exceptions too. Lambdas may throw: the call that runs
 * them, such as backward, throws the same exception once it has cleaned up (TN_EXCEPTIONS). */
#ifndef TNI_API_CXX_AUTOGRAD_H
#define TNI_API_CXX_AUTOGRAD_H

#include "ops/results.h"
#include "vmap.h"

#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)
TNI_TN_BEGIN

/* --- guards ----------------------------------------------------------------------------------- */

/* A scope for tensors of C (TN_SCOPE). Objects of tn::tensor are in no scope and need none. */
class scope {
    int64_t mark_;

  public:
    explicit scope(site at = site::here()) : mark_(tn_scope_begin_at(at.file, at.line)) {}
    ~scope() { (tn_scope_end)(mark_); }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
};

namespace detail {
struct grad_mode {
    static bool set(bool enabled) { return tn_set_grad_mode(enabled); }
};
struct inference_mode {
    static bool set(bool enabled) { return tn_set_inference_mode(enabled); }
};
struct no_alloc_mode {
    static bool set(bool enabled) { return tn_set_no_alloc_mode(enabled); }
};
template <class M, bool enabled>
class in_mode {
    bool before_;

  public:
    in_mode() : before_(M::set(enabled)) {}
    ~in_mode() { M::set(before_); }
    in_mode(const in_mode &) = delete;
    in_mode &operator=(const in_mode &) = delete;
};
} // namespace detail
/* While one of these lives, the thread is in that mode (autograd.h, context.h). */
typedef detail::in_mode<detail::grad_mode, false> no_grad;
typedef detail::in_mode<detail::grad_mode, true> enable_grad;
typedef detail::in_mode<detail::inference_mode, true> inference;
typedef detail::in_mode<detail::no_alloc_mode, true> expect_no_alloc;

/* While it lives, the thread's autocast is on, for tensors on the CPU (tn_set_autocast). Backward
 * and steps stand behind it.
 *     { tn::autocast guard; loss = tn::mse_loss(net(x), y); }
 *     loss.backward(); */
class autocast {
    tn_dtype before_;

  public:
    explicit autocast(tn_dtype dtype = TN_BF16) : before_(tn_set_autocast(dtype)) {}
    ~autocast() { tn_set_autocast(before_); }
    autocast(const autocast &) = delete;
    autocast &operator=(const autocast &) = delete;
};

/* While it lives, the thread makes tensors from nothing on that device, if a call names none
 * (tn_set_default_device). With an error the device stays as it was.
 *     tn::device_guard g("null:1");  tn::tensor x = tn::rand({2, 3}); */
class device_guard {
    tn_device_id before_;
    void set(tn_device_id device, site at) {
        tn_set_default_device_at(at.file, at.line, device);
        detail::check();
    }

  public:
    explicit device_guard(tn_device_id device, site at = site::here())
        : before_(tn_default_device()) {
        set(device, at);
    }
    explicit device_guard(const char *name, site at = site::here()) : before_(tn_default_device()) {
        set(tn_device_at(at.file, at.line, name), at);
    }
    ~device_guard() { tnp_set_default_device(before_); }
    device_guard(const device_guard &) = delete;
    device_guard &operator=(const device_guard &) = delete;
};

/* --- gradients -------------------------------------------------------------------------------- */

struct grad_options {
    typedef grad_options self_;
    TNI_OPTION(tensors, seeds, tensors()) /* a gradient for each output; None: 1 */
    TNI_OPTION(flag, retain_graph, false)
    TNI_OPTION(flag, create_graph, false)
    TNI_OPTION(flag, allow_unused, false)
};
/* Gradients of outputs with respect to inputs, without a change of .grad; see tn_grads. Those of
 * unused inputs are undefined, if they are allowed. Empty with an error. */
inline tensors grad(tensor_list outputs, tensor_list inputs, grad_options o = grad_options(),
                    site at = site::here()) {
    const int64_t n = inputs.value.n;
    const size_t bytes = static_cast<size_t>(n > 0 ? n : 1) * sizeof(tn_tensor *);
    tn_tensor **all = static_cast<tn_tensor **>(tn_alloc(bytes));
    const tensor_list given = o.seeds;
    const tn_grads_options c = {o.seeds.size() ? given.value.at : nullptr, o.retain_graph.value,
                                o.create_graph.value, o.allow_unused.value};
    const int64_t nseeds = given.value.n;
    const bool seeds = !nseeds || nseeds == outputs.value.n;
    if (!seeds)
        tn_error_set(TN_INVALID, at.file, at.line, "grad: %lld outputs, but %lld seeds",
                     (long long)outputs.value.n, (long long)nseeds);
    const bool ok =
        all && seeds && tn_grads_at(at.file, at.line, outputs.value, inputs.value, all, &c);
    tensors result(ok ? static_cast<size_t>(n) : 0);
    for (size_t i = 0; i < result.size(); i++)
        if (all[i]) result[i] = tensor::take(all[i]);
    if (all) tn_alloc_free(all, bytes);
    if (!ok) detail::check();
    return result;
}

namespace detail {
/* What a hook returns: a tensor in the gradient's place, or nothing, which leaves it. */
template <class F, class R>
struct hooked {
    static tensor of(F &f, const tensor &g) { return f(g); }
};
template <class F>
struct hooked<F, void> {
    static tensor of(F &f, const tensor &g) {
        f(g);
        return g;
    }
};
/* The user's function f of a tensor, and its result, for call(). */
template <class F>
struct hook_call {
    F &f;
    const tensor &grad;
    tensor &result;
    void operator()() { result = hooked<F, decltype(f(grad))>::of(f, grad); }
};
template <class F>
inline tn_tensor *run_hook(tn_tensor *g, void *user) {
    tensor grad(g), result;
    hook_call<F> run = {*static_cast<F *>(user), grad, result};
    if (!call(run)) return nullptr;
    if (result.get() == g) return g;
    return result.defined() ? tn_lend(result.release()) : nullptr;
}
} // namespace detail

template <class F>
inline int64_t tensor::hook(F f, site at) const {
    F *copy = detail::copied(f);
    const int64_t n =
        copy ? tn_hook_add_at(at.file, at.line, p_, &detail::run_hook<F>, copy, &detail::drop<F>)
             : 0;
    if (!n) {
        delete copy;
        detail::check();
    }
    return n;
}

/* --- functions of your own -------------------------------------------------------------------- */

/* A call of a function: what forward keeps for backward. */
class function_call {
    tn_function *f_;
    void *data_;

  public:
    function_call(tn_function *f, void *data) : f_(f), data_(data) {}
    function_call(const function_call &) = delete; /* it ends with the call */
    function_call &operator=(const function_call &) = delete;
    /* In forward: keeps t, which saved(i) returns in backward, in the order of these calls. */
    bool save(const tensor &t) {
        const bool ok = tn_function_save(f_, t.get());
        if (!ok) detail::check();
        return ok;
    }
    tensor saved(int i) const {
        tensor t(tn_function_saved(f_, i));
        if (!t.defined()) detail::check();
        return t;
    }
    /* The data that apply was given. */
    template <class D>
    D &data() const {
        return *static_cast<D *>(data_);
    }
};

struct no_data {};

namespace detail {
/* F::name(), if there is one. */
template <class F>
auto name_of(int) -> decltype(F::name()) {
    return F::name();
}
template <class F>
const char *name_of(long) {
    return "function";
}
} // namespace detail

/* A function with a gradient of your own (torch's autograd.Function); see tn_function_call.
 *
 *     struct cube : tn::function<cube> {
 *         static tn::tensors forward(tn::function_call &c, const tn::tensors &in) {
 *             c.save(in[0]);
 *             return in[0] * in[0] * in[0];
 *         }
 *         static tn::tensors backward(tn::function_call &c, const tn::tensors &grad) {
 *             return 3 * c.saved(0) * c.saved(0) * grad[0];
 *         }
 *     };
 *     tn::tensor y = cube::apply({x})[0];
 *
 * The second parameter is the number of results, the third the type of data that apply takes as
 * well and copies. Errors and the graph call it "function", or what `static const char *name()`
 * of the class returns. An undefined gradient of a result is zero; backward returns a gradient for
 * each input, undefined for zero. */
template <class F, int results = 1, class D = no_data>
class function {
    struct forward_call {
        function_call &c;
        tensors in, out;
        void operator()() { out = F::forward(c, in); }
    };
    struct backward_call {
        function_call &c;
        tensors in, out;
        void operator()() { out = F::backward(c, in); }
    };
    static tensors objects(tn_tensor *const *at, int n) {
        tensors all(static_cast<size_t>(n));
        for (size_t i = 0; i < all.size(); i++) all[i] = tensor(at[i]);
        return all;
    }
    static bool give(tensors &from, tn_tensor **to, int n, const char *what) {
        if (from.size() != static_cast<size_t>(n))
            return tn_error_set(TN_INVALID, nullptr, 0, "%s gave %lld tensors, expected %d", what,
                                (long long)from.size(), n);
        for (int i = 0; i < n; i++) {
            tensor &t = from[static_cast<size_t>(i)];
            to[i] = t.defined() ? tn_lend(t.release()) : nullptr;
        }
        return tn_ok();
    }
    struct kept {
        D data;
        int inputs;
    };
    static bool run_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
        kept *k = static_cast<kept *>(tn_function_user(f));
        function_call c(f, &k->data);
        forward_call run = {c, objects(in, nin), tensors()};
        return detail::call(run) && give(run.out, out, results, "forward");
    }
    static bool run_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
        kept *k = static_cast<kept *>(tn_function_user(f));
        function_call c(f, &k->data);
        backward_call run = {c, objects(grad_out, results), tensors()};
        return detail::call(run) && give(run.out, grad_in, k->inputs, "backward");
    }

  public:
    TNI_OWN_COPY static tensors apply(tensor_list in, const D &data = D(), site at = site::here()) {
        static const tn_function_row row = {detail::name_of<F>(0), results, &run_forward,
                                            &run_backward, &detail::drop<kept>};
        const kept k = {data, static_cast<int>(in.value.n)};
        kept *copy = detail::copied(k);
        tn_tensor *out[results] = {nullptr};
        const bool ok = copy && tn_function_call_at(at.file, at.line, &row, in.value, copy, out);
        if (!ok) detail::check();
        tensors all(ok ? static_cast<size_t>(results) : 0);
        for (size_t i = 0; i < all.size(); i++) all[i] = tensor::take(out[i]);
        return all;
    }
};

/* --- batches ---------------------------------------------------------------------------------- */

namespace detail {
class open_batch { /* ends with its block, by return and exceptions too */
  public:
    bool ok;
    open_batch(int64_t size, tn_randomness randomness, site at)
        : ok(tn_vmap_begin_at(at.file, at.line, size, randomness)) {}
    ~open_batch() {
        if (ok) tn_vmap_end();
    }
    open_batch(const open_batch &) = delete;
    open_batch &operator=(const open_batch &) = delete;
};
} // namespace detail

/* What f, which takes and returns tensors of one sample, gives for all samples; see tn_vmap. dims:
 * which dimension of each input counts samples, TN_NONE: none; without it dimension 0 of each.
 * Results count samples in dimension 0. Empty with an error.
 *     tn::tensors d = tn::vmap([](const tn::tensors &in) { return in[0].dot(in[1]); }, {x, y}); */
template <class F>
inline tensors vmap(F f, tensor_list in, int_list dims = int_list(),
                    tn_randomness randomness = TN_RANDOM_ERROR, site at = site::here()) {
    const size_t n = in.value.n > 0 ? static_cast<size_t>(in.value.n) : 0;
    int64_t size = -1;
    bool ok = !dims.size() || dims.size() == n;
    for (size_t i = 0; ok && i < n; i++) {
        const int64_t dim = dims.size() ? dims[i] : 0;
        if (dim != TN_NONE && size < 0) size = tn_size(in.value.at[i], static_cast<int>(dim));
    }
    if (!ok || size < 0)
        tn_error_set(TN_INVALID, at.file, at.line,
                     "vmap: %lld inputs, %lld dims, and one must count", (long long)n,
                     (long long)dims.size());
    const detail::open_batch batch(ok ? size : -1, randomness, at);
    tensors samples(n), result;
    for (size_t i = 0; batch.ok && i < n; i++) {
        const int64_t dim = dims.size() ? dims[i] : 0;
        samples[i] = dim == TN_NONE
                         ? tensor(in.value.at[i])
                         : tensor::take(tn_batched_at(at.file, at.line, in.value.at[i], dim));
    }
    if (batch.ok && tn_ok()) result = f(static_cast<const tensors &>(samples));
    for (size_t i = 0; i < result.size(); i++)
        result[i] = tensor::take(tn_unbatched_at(at.file, at.line, result[i].get(), 0));
    detail::check();
    return tn_ok() ? result : tensors();
}

/* --- random numbers --------------------------------------------------------------------------- */

/* Seeds the default generator (tn_manual_seed): a seed gives torch's random numbers. */
inline void manual_seed(uint64_t seed) { tn_manual_seed(seed); }

/* --- files ------------------------------------------------------------------------------------ */

namespace detail {
struct named : tn_named { /* a list of them is one for C */
    named(const char *of, tensor_ref t) {
        name = of;
        tensor = t.value;
    }
};
} // namespace detail
/* Tensors as a safetensors file; see tn_safetensors_save.
 *     tn::save("two.safetensors", {{"x", x}, {"y", y}}); */
inline bool save(const char *path, std::initializer_list<detail::named> l, site at = site::here()) {
    static_assert(sizeof(detail::named) == sizeof(tn_named), "a list of them is one for C");
    const bool ok = tn_safetensors_save_at(at.file, at.line, path, l.begin(),
                                           static_cast<int64_t>(l.size()), nullptr, 0);
    if (!ok) detail::check();
    return ok;
}
/* One tensor of a safetensors file, by name; see tn_safetensors_open. */
inline tensor load(const char *path, const char *name, site at = site::here()) {
    tn_safetensors *f = tn_safetensors_open_at(at.file, at.line, path);
    tn_tensor *t = f ? tn_safetensors_get_at(at.file, at.line, f, name) : nullptr;
    if (f) tn_safetensors_close(f);
    return tensor::take(t);
}

TNI_TN_END
#endif

#endif
