/* cxx_optim.h - C++ only: optimizers, schedules, clipping.
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
} // namespace optim

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
