/* cxx_optim.h - C++ only: optimizers, schedules, L-BFGS, a loss scaler, clipping.
 *
 *     tn::optim::adam opt(net.parameters(), {.lr = 1e-3});     (C++20)
 *     tn::optim::step_lr schedule(opt, 30, 0.1);
 *     opt.zero_grad();     loss.backward();     opt.step();     schedule.step();
 *
 * An optimizer owns a tn_optimizer and moves, but does not copy; a schedule likewise. A schedule
 * must end before its optimizer, as it does if it is declared after it. */
#ifndef TNI_API_CXX_OPTIM_H
#define TNI_API_CXX_OPTIM_H

#include "cxx_nn.h"

#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)
TNI_TN_BEGIN
namespace detail {
inline double not_a_number() { /* <math.h> of C++ would double the cost of this file */
    volatile double zero = 0;
    return zero / zero;
}
} // namespace detail

namespace optim {

/* An option of a group that is a number, for add_group. */
struct option {
    const char *name;
    double value;
};

class optimizer {
  protected:
    tn_optimizer *p_;
    void made(tn_optimizer *fresh) {
        p_ = fresh;
        if (!fresh) detail::check();
    }
    static bool told(bool ok) {
        if (!ok) detail::check();
        return ok;
    }

  public:
    typedef tn_optimizer c_type;
    optimizer() noexcept : p_(nullptr) {}
    /* Owns what a function of C returned. */
    static optimizer take(tn_optimizer *fresh) {
        optimizer o;
        o.made(fresh);
        return o;
    }
    optimizer(optimizer &&o) noexcept : p_(o.p_) { o.p_ = nullptr; }
    optimizer &operator=(optimizer &&o) noexcept {
        tn_optimizer *p = p_;
        p_ = o.p_;
        o.p_ = p;
        return *this;
    }
    optimizer(const optimizer &) = delete;
    ~optimizer() { tn_optimizer_free(p_); }

    tn_optimizer *get() const noexcept { return p_; }
    tn_optimizer *release() noexcept {
        tn_optimizer *p = p_;
        p_ = nullptr;
        return p;
    }
    bool defined() const noexcept { return p_ != nullptr; }

    /* Makes a step with the parameters' .grad; all change, or none. */
    bool step(site at = site::here()) { return told(tn_optimizer_step_at(at.file, at.line, p_)); }
    /* Calls f, which computes the loss and runs backward, records meanwhile, makes a step, and
     * returns the loss.
     *     opt.step([&] { opt.zero_grad(); tn::tensor l = loss(net(x), y); l.backward(); return l;
     *     }); */
    template <class F>
    auto step(F f, site at = site::here()) -> decltype(tensor(f())) {
        tensor loss;
        {
            enable_grad recorded;
            loss = f();
        }
        step(at);
        return loss;
    }
    void zero_grad() { tn_optimizer_zero_grad(p_); }

    int groups() const { return tn_optimizer_groups(p_); }
    /* Adds a group of parameters with options of its own. Returns its number; -1 with an error.
     *     opt.add_group(head.parameters(), {{"lr", 1e-2}}); */
    int add_group(tensor_list params, std::initializer_list<option> options = {},
                  site at = site::here());
    /* An option of a group by name: a number, or a bool as 0 or 1. NaN with an error. */
    double get(const char *name, int group = 0, site at = site::here()) const {
        const double v = tn_optimizer_get_at(at.file, at.line, p_, group, name);
        if (v != v) detail::check();
        return v;
    }
    bool set(const char *name, double value, int group = 0, site at = site::here()) {
        return told(tn_optimizer_set_at(at.file, at.line, p_, group, name, value));
    }
    double lr(int group = 0, site at = site::here()) const { return get("lr", group, at); }
    bool set_lr(double lr, site at = site::here()) { /* of all groups */
        bool ok = true;
        for (int g = 0; ok && g < groups(); g++) ok = set("lr", lr, g, at);
        return ok;
    }

    named_tensors state_dict(site at = site::here()) const {
        return named_tensors(tn_optimizer_state_dict_at(at.file, at.line, p_));
    }
    bool load(const named_tensors &l, site at = site::here()) {
        return told(
            tn_optimizer_load_at(at.file, at.line, p_, l.data(), static_cast<int64_t>(l.size())));
    }
    /* The state dict as a safetensors file. */
    bool save(const char *path, site at = site::here()) const {
        const named_tensors l = state_dict(at);
        return told(tn_safetensors_save_at(at.file, at.line, path, l.data(),
                                           static_cast<int64_t>(l.size()), nullptr, 0));
    }
    bool load(const char *path, site at = site::here()) {
        return load(named_tensors(tn_safetensors_load_at(at.file, at.line, path)), at);
    }
};
inline int optimizer::add_group(tensor_list params, std::initializer_list<option> options,
                                site at) {
    enum { MOST = 16 };
    tn_value values[MOST];
    int n = 0;
    if (options.size() > static_cast<size_t>(MOST)) {
        told(tn_error_set(TN_INVALID, at.file, at.line, "add_group: more than %d options",
                          static_cast<int>(MOST)));
        return -1;
    }
    for (const option &each : options) {
        values[n] = tn_value();
        values[n].type = TN_T_FLOAT;
        values[n].name = each.name;
        values[n++].as.real = each.value;
    }
    const int group = tn_optimizer_group_at(at.file, at.line, p_, params.value, values, n);
    if (group < 0) detail::check();
    return group;
}

/* --- schedules -------------------------------------------------------------------------------- */

class schedule {
  protected:
    tn_schedule *p_;
    void *f_; /* a function that this owns, and what drops it */
    void (*drop_)(void *);
    schedule() noexcept : p_(nullptr), f_(nullptr), drop_(nullptr) {}
    void made(tn_schedule *fresh) {
        p_ = fresh;
        if (!fresh) detail::check();
    }

  public:
    schedule(schedule &&o) noexcept : p_(o.p_), f_(o.f_), drop_(o.drop_) {
        o.p_ = nullptr;
        o.f_ = nullptr;
    }
    schedule(const schedule &) = delete;
    schedule &operator=(const schedule &) = delete;
    ~schedule() {
        tn_schedule_free(p_);
        if (f_) drop_(f_);
    }
    tn_schedule *get() const noexcept { return p_; }
    bool step(site at = site::here()) {
        const bool ok = tn_schedule_step_at(at.file, at.line, p_);
        if (!ok) detail::check();
        return ok;
    }
    int64_t count() const { return p_ ? tn_schedule_count(p_) : 0; } /* of steps */
    double initial(int group = 0) const { return tn_schedule_initial(p_, group); }
    /* Goes on after `count` steps from these initial rates, one a group. */
    bool resume(int64_t count, float_list initial_rates, site at = site::here()) {
        const bool ok = tn_schedule_resume_at(at.file, at.line, p_, count, initial_rates.value.at,
                                              static_cast<int>(initial_rates.value.n));
        if (!ok) detail::check();
        return ok;
    }
};

/* StepLR, CosineAnnealingLR, LambdaLR of torch; see optim.h. */
class step_lr : public schedule {
  public:
    step_lr(const optimizer &o, int64_t every, double gamma = 0.1, site at = site::here()) {
        made(tn_optim_step_lr_at(at.file, at.line, o.get(), every, gamma));
    }
};
class cosine_lr : public schedule {
  public:
    cosine_lr(const optimizer &o, int64_t t_max, double eta_min = 0, site at = site::here()) {
        made(tn_optim_cosine_lr_at(at.file, at.line, o.get(), t_max, eta_min));
    }
};
/* lr is its initial value times f(step).
 *     tn::optim::lambda_lr warm(opt, [](int64_t step) { return step < 99 ? 0.1 : 1.0; }); */
class lambda_lr : public schedule {
    template <class F>
    struct factor_call {
        F &f;
        int64_t step;
        double result;
        void operator()() { result = static_cast<double>(f(step)); }
    };
    template <class F>
    static double factor(int64_t step, void *user) {
        factor_call<F> run = {*static_cast<F *>(user), step, 0};
        return detail::call(run) ? run.result : detail::not_a_number();
    }

  public:
    template <class F>
    lambda_lr(const optimizer &o, F f, site at = site::here()) {
        f_ = detail::copied(f);
        drop_ = &detail::drop<F>;
        p_ = f_ ? tn_optim_lambda_lr_at(at.file, at.line, o.get(), &factor<F>, f_) : nullptr;
        if (p_) return;
        if (f_) drop_(f_);
        f_ = nullptr;
        detail::check();
    }
};

/* --- L-BFGS ----------------------------------------------------------------------------------- */

struct lbfgs_options {
    typedef lbfgs_options self_;
    TNI_OPTION(double, lr, 1)
    TNI_OPTION(integer, max_iter, 20)
    TNI_OPTION(integer, max_eval, TN_NONE) /* max_iter * 5 / 4 */
    TNI_OPTION(double, tolerance_grad, 1e-7)
    TNI_OPTION(double, tolerance_change, 1e-9)
    TNI_OPTION(integer, history_size, 100)
    TNI_OPTION(flag, strong_wolfe, false) /* a line search; without it steps have length lr */
    TNI_OPTION(flag, maximize, false)
};
/* torch.optim.LBFGS, whose step calls a function several times: optim.h has more. It owns a
 * tn_lbfgs and moves, but does not copy.
 *     tn::optim::lbfgs opt(net.parameters(), {.strong_wolfe = true});     (C++20)
 *     opt.step([&] { opt.zero_grad(); tn::tensor l = loss_of(net); l.backward(); return l; }); */
class lbfgs {
    tn_lbfgs *p_;
    template <class F>
    struct closure { /* the losses live until the step has read them */
        F &f;
        tensor first, last;
        void operator()() { last = f(); }
        static tn_tensor *run(void *user) {
            closure *c = static_cast<closure *>(user);
            if (!detail::call(*c)) return nullptr;
            if (!c->first.defined()) c->first = c->last;
            return c->last.get();
        }
    };
    /* C takes 0 as "not given": a number nobody tells from 0, normal so that processors that take
     * denormals as 0 read it, and an integer that is refused. */
    static double given(double v) { return v == 0 ? 2.2250738585072014e-308 : v; }
    static int64_t given(integer v) { return v.value == 0 ? -1 : v.value; }

  public:
    explicit lbfgs(tensor_list params, lbfgs_options o = lbfgs_options(), site at = site::here()) {
        tn_lbfgs_args a = tn_lbfgs_args();
        a.params = params.value;
        a.lr = given(o.lr);
        a.max_iter = given(o.max_iter);
        a.max_eval = o.max_eval.value == TN_NONE ? 0 : given(o.max_eval);
        a.tolerance_grad = given(o.tolerance_grad);
        a.tolerance_change = given(o.tolerance_change);
        a.history_size = given(o.history_size);
        a.strong_wolfe = o.strong_wolfe.value;
        a.maximize = o.maximize.value;
        p_ = tn_lbfgs_new_at(at.file, at.line, &a);
        if (!p_) detail::check();
    }
    lbfgs(lbfgs &&o) noexcept : p_(o.p_) { o.p_ = nullptr; }
    lbfgs &operator=(lbfgs &&o) noexcept {
        tn_lbfgs *p = p_;
        p_ = o.p_;
        o.p_ = p;
        return *this;
    }
    lbfgs(const lbfgs &) = delete;
    ~lbfgs() { tn_lbfgs_free(p_); }
    tn_lbfgs *get() const noexcept { return p_; }
    bool defined() const noexcept { return p_ != nullptr; }

    /* f makes the gradients new and returns the loss, a tensor of one number; it records. Returns
     * the loss before the step; undefined with an error, and then parameters may have moved. */
    template <class F>
    auto step(F f, site at = site::here()) -> decltype(tensor(f())) {
        closure<F> c = {f, tensor(), tensor()};
        tn_lbfgs_step_at(at.file, at.line, p_, &closure<F>::run, &c); /* NaN may be the loss */
        if (tn_ok()) return c.first;
        detail::check();
        return tensor();
    }
    void zero_grad() { tn_lbfgs_zero_grad(p_); }
    int64_t evaluations() const { return tn_lbfgs_evaluations(p_); } /* calls of f so far */
};
} // namespace optim

/* --- mixed precision -------------------------------------------------------------------------- */

struct scaler_options {
    typedef scaler_options self_;
    TNI_OPTION(double, init_scale, 65536)
    TNI_OPTION(double, growth_factor, 2)
    TNI_OPTION(double, backoff_factor, 0.5)
    TNI_OPTION(integer, growth_interval, 2000)
};
/* torch.amp.GradScaler, for losses computed in TN_F16: optim.h has more. It owns a tn_scaler and
 * moves, but does not copy.
 *     tn::scaler scaler;
 *     scaler.scale(loss).backward();     scaler.step(opt);     scaler.update(); */
class scaler {
    tn_scaler *p_;
    static bool told(bool ok) {
        if (!ok) detail::check();
        return ok;
    }
    /* C takes 0 as "not given": an option that is 0, or NULL. */
    static const char *zero(const scaler_options &o) {
        return o.init_scale == 0              ? "init_scale"
               : o.growth_factor == 0         ? "growth_factor"
               : o.backoff_factor == 0        ? "backoff_factor"
               : o.growth_interval.value == 0 ? "growth_interval"
                                              : nullptr;
    }

  public:
    explicit scaler(scaler_options o = scaler_options(), site at = site::here()) : p_(nullptr) {
        const tn_scaler_args a = {o.init_scale, o.growth_factor, o.backoff_factor,
                                  o.growth_interval.value};
        const char *name = zero(o);
        if (name)
            tn_error_set(TN_INVALID, at.file, at.line, "scaler: %s is 0, but must be positive",
                         name);
        else
            p_ = tn_scaler_new_at(at.file, at.line, &a);
        told(p_ != nullptr);
    }
    scaler(scaler &&o) noexcept : p_(o.p_) { o.p_ = nullptr; }
    scaler &operator=(scaler &&o) noexcept {
        tn_scaler *p = p_;
        p_ = o.p_;
        o.p_ = p;
        return *this;
    }
    scaler(const scaler &) = delete;
    ~scaler() { tn_scaler_free(p_); }
    tn_scaler *get() const noexcept { return p_; }
    bool defined() const noexcept { return p_ != nullptr; }

    /* loss, a float32, times the scale. */
    tensor scale(const tensor &loss, site at = site::here()) const {
        return tensor::take(tn_scaler_scale_at(at.file, at.line, p_, loss.get()));
    }
    /* Divides the gradients by the scale, to clip them before the step. */
    bool unscale_(const optim::optimizer &o, site at = site::here()) {
        return told(tn_scaler_unscale_at(at.file, at.line, p_, o.get()));
    }
    /* A step, unless a gradient is not finite, which is no error. */
    bool step(const optim::optimizer &o, site at = site::here()) {
        return told(tn_scaler_step_at(at.file, at.line, p_, o.get()));
    }
    /* The scale of the next step: smaller after an overflow, larger after long without one. */
    bool update(site at = site::here()) { return told(tn_scaler_update_at(at.file, at.line, p_)); }
    double get_scale() const { return tn_scaler_get(p_); }
    int64_t count() const { return tn_scaler_count(p_); } /* steps since the scale changed */
    bool resume(double scale, int64_t count, site at = site::here()) { /* sets both */
        return told(tn_scaler_resume_at(at.file, at.line, p_, scale, count));
    }
};

namespace nn {
/* Scales the gradients so that their common norm is at most max_norm; returns the norm before. */
inline double clip_grad_norm_(tensor_list params, double max_norm, double norm_type = 2,
                              site at = site::here()) {
    const double norm =
        tn_nn_clip_grad_norm_at(at.file, at.line, params.value, max_norm, norm_type);
    if (norm != norm) detail::check();
    return norm;
}
} // namespace nn
TNI_TN_END
#endif

#endif
