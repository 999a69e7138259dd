/* cxx_nn.h - C++ only: modules that own themselves, and modules of your own by inheritance.
 *
 *     tn::nn::sequential net{tn::nn::linear(784, 128), tn::nn::relu(), tn::nn::linear(128, 10)};
 *     tn::tensor y = net(x);     net.save("net.safetensors");     std::cout << net;
 *
 * A tn::nn::module counts as one owner of a tn_module; copies share it, and module.copy() makes
 * another. Each built-in module has a class with its constructor, call and parts:
 *     tn::nn::linear fc(784, 10, {.bias = false});     fc.weight()     fc.options().in_features
 * Errors are as in cxx_tensor.h. One thread at a time may use a module (nn.h). */
#ifndef TNI_API_CXX_NN_H
#define TNI_API_CXX_NN_H

#include "cxx_autograd.h"
#include "train.h"

#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)
TNI_TN_BEGIN

/* --- named tensors ---------------------------------------------------------------------------- */

struct named_tensor {
    const char *name; /* borrowed from the list */
    tensor value;
};

/* Tensors with names, as in a state dict. Owns its names; moves, but does not copy.
 *     for (tn::named_tensor &each : net.named_parameters()) std::cout << each.name;
 *     C++17: for (auto &[name, value] : net.named_parameters()) ... */
class named_tensors {
    tn_named_list list_;

  public:
    /* Takes what a function of C returned. */
    explicit named_tensors(tn_named_list l) : list_(l) {
        if (l.n < 0) detail::check();
    }
    named_tensors(named_tensors &&o) noexcept : list_(o.list_) { o.list_ = tn_named_list(); }
    named_tensors &operator=(named_tensors &&o) noexcept {
        const tn_named_list l = list_;
        list_ = o.list_;
        o.list_ = l;
        return *this;
    }
    ~named_tensors() { (tn_named_free)(list_); }
    named_tensors(const named_tensors &) = delete;

    size_t size() const noexcept { return list_.n > 0 ? static_cast<size_t>(list_.n) : 0; }
    const tn_named *data() const noexcept { return list_.at; }
    named_tensor operator[](size_t i) const {
        const named_tensor each = {list_.at[i].name, tensor(list_.at[i].tensor)};
        return each;
    }
    /* The tensor of that name, undefined if there is none. */
    tensor find(const char *name) const { return tensor((tn_named_find)(list_, name)); }

    class iterator {
        const tn_named *at_;
        named_tensor each_; /* where it stands, for `auto &` */

      public:
        explicit iterator(const tn_named *at) : at_(at), each_() {}
        named_tensor &operator*() & {
            each_.name = at_->name;
            each_.value = tensor(at_->tensor);
            return each_;
        }
        named_tensor operator*() const & { /* of a temporary, too */
            const named_tensor each = {at_->name, tensor(at_->tensor)};
            return each;
        }
        iterator &operator++() {
            at_++;
            return *this;
        }
        bool operator!=(const iterator &o) const { return at_ != o.at_; }
        bool operator==(const iterator &o) const { return at_ == o.at_; }
    };
    iterator begin() const { return iterator(list_.at); }
    iterator end() const { return iterator(list_.at + size()); }
};

namespace nn {

/* --- module ----------------------------------------------------------------------------------- */

class named_modules;
class module;

namespace calls { /* private */
/* Whether a call of F takes a module and its path. The functions of apply ask this first, so that
 * one that takes both a path and none gets it, and is compiled for that alone. */
template <class F, class = void>
struct takes_path {
    typedef nn::module alone; /* what it takes in its place */
};
template <class F>
struct takes_path<F, decltype(void(detail::place<F>()(detail::place<nn::module>(), "")))> {
    typedef bool type;
};
} // namespace calls

class module {
  protected:
    tn_module *p_;
    void made(tn_module *fresh) { /* of a constructor of C */
        p_ = fresh;
        if (!fresh) detail::check();
    }
    static bool told(bool ok) {
        if (!ok) detail::check();
        return ok;
    }

  public:
    typedef tn_module c_type;
    /* Undefined: every call of it is an error. */
    module() noexcept :p_(nullptr) {}
    /* One more owner of m, which may be NULL. */
    explicit module(tn_module *m) : p_(tn_module_hold(m)) {}
    /* Owns what a function of C returned as new. */
    static nn::module take(tn_module *fresh) {
        nn::module m;
        m.made(fresh);
        return m;
    }
    module(const nn::module &o) :p_(tn_module_hold(o.p_)) {}
    module(nn::module &&o) noexcept :p_(o.p_) { o.p_ = nullptr; }
    ~module() { (tn_module_free)(p_); }
    nn::module &operator=(nn::module o) noexcept {
        tn_module *m = p_;
        p_ = o.p_;
        o.p_ = m;
        return *this;
    }

    /* For functions of C: the pointer, borrowed from this object, or with its ownership. */
    tn_module *get() const noexcept { return p_; }
    tn_module *release() noexcept {
        tn_module *m = p_;
        p_ = nullptr;
        return m;
    }
    bool defined() const noexcept { return p_ != nullptr; }
    bool is_same(const nn::module &o) const noexcept { return p_ == o.p_; }
    const char *type() const { return p_ ? p_->type : ""; } /* the class's name: "Linear" */

    /* Runs forward of one tensor; see tn_forward. */
    tn::tensor operator()(tensor_ref x, site at = site::here()) const {
        return tn::tensor::take(tn_forward_at(at.file, at.line, p_, x.value));
    }

    /* The parameters, each once, in torch's order. */
    tn::tensors parameters(site at = site::here()) const {
        const tn_tensors l = tn_parameters_at(at.file, at.line, p_);
        if (l.n < 0) detail::check();
        tn::tensors all(l.n > 0 ? static_cast<size_t>(l.n) : 0);
        for (size_t i = 0; i < all.size(); i++) all[i] = tn::tensor(l.at[i]);
        return all;
    }
    named_tensors named_parameters(site at = site::here()) const {
        return named_tensors(tn_module_parameters_at(at.file, at.line, p_));
    }
    named_tensors named_buffers(site at = site::here()) const {
        return named_tensors(tn_module_buffers_at(at.file, at.line, p_));
    }
    named_tensors state_dict(site at = site::here()) const {
        return named_tensors(tn_module_state_dict_at(at.file, at.line, p_));
    }
    /* A parameter or buffer, and a module, by path: net.part("fc1.weight"), net.child("fc1"). */
    tn::tensor part(const char *path, site at = site::here()) const {
        tn_tensor *t = tn_module_tensor_at(at.file, at.line, p_, path);
        if (!t) detail::check();
        return tn::tensor(t);
    }
    bool set_part(const char *path, tensor_ref t, site at = site::here()) const {
        return told(tn_module_set_tensor_at(at.file, at.line, p_, path, t.value));
    }
    nn::module child(const char *path, site at = site::here()) const {
        tn_module *m = tn_module_child_at(at.file, at.line, p_, path);
        if (!m) detail::check();
        return nn::module(m);
    }
    /* The modules directly below:     for (tn::nn::named_module each : net.children()) ... */
    named_modules children() const;
    /* Calls f(module, path), or f(module) if it takes no path, for this and all modules below,
     * parents first. */
    template <class F>
    typename calls::takes_path<F>::type apply(F f, site at = site::here()) const;
    template <class F, class M = typename calls::takes_path<F>::alone>
    auto apply(F f, site at = site::here()) const -> decltype(void(f(detail::place<M>())), bool());

    const nn::module &train(bool training = true) const {
        tn_module_train(p_, training);
        return *this;
    }
    const nn::module &eval() const { return train(false); }
    bool is_training() const { return p_ && p_->training; }
    const nn::module &requires_grad_(bool wanted = true, site at = site::here()) const {
        told(tn_module_requires_grad_at(at.file, at.line, p_, wanted));
        return *this;
    }
    void zero_grad() const { tn_module_zero_grad(p_); }
    /* Converts in place, so that optimizers stay valid. */
    const nn::module &to(tn_dtype dtype, tn_device_id device = TN_NO_DEVICE,
                         site at = site::here()) const {
        told(tn_module_to_at(at.file, at.line, p_, dtype, device));
        return *this;
    }
    nn::module copy(site at = site::here()) const { /* deep, without hooks */
        return take(tn_module_copy_at(at.file, at.line, p_));
    }
    /* this = (1 - tau) this + tau from; see tn_module_copy_from. */
    bool copy_from(const nn::module &from, double tau = 1, site at = site::here()) const {
        return told(tn_module_copy_from_at(at.file, at.line, p_, from.p_, tau));
    }
    bool reset(site at = site::here()) const { /* draws initial values again */
        return told(tn_module_reset_at(at.file, at.line, p_));
    }
    /* The state dict as a safetensors file; loading is strict, and all or nothing. */
    bool save(const char *path, site at = site::here()) const {
        return told(tn_module_save_file_at(at.file, at.line, p_, path));
    }
    bool load(const char *path, site at = site::here()) const {
        return told(tn_module_load_file_at(at.file, at.line, p_, path));
    }
    bool load(const named_tensors &l, bool strict = true, site at = site::here()) const {
        return told(tn_module_load_at(at.file, at.line, p_, l.data(),
                                      static_cast<int64_t>(l.size()), strict));
    }

    /* Adds f(module, input), which runs before forward, or f(module, input, output), which runs
     * after it and may return a tensor in the output's place. Returns a number for remove_hook; 0
     * with an error.     net.hook_after([](tn::nn::module, tn::tensor, tn::tensor y) { ... }); */
    template <class F>
    int64_t hook_before(F f, site at = site::here()) const;
    template <class F>
    int64_t hook_after(F f, site at = site::here()) const;
    bool remove_hook(int64_t number, site at = site::here()) const {
        return told(tn_module_hook_remove_at(at.file, at.line, p_, number));
    }
};

struct named_module {
    const char *name; /* borrowed from the module above */
    module value;
};
class named_modules {
    nn::module of_;

  public:
    explicit named_modules(const nn::module &of) : of_(of) {}
    class iterator {
        tn_module *m_;
        int i_;
        named_module each_; /* where it stands, for `auto &` */
        void find() {       /* from i_ on */
            while (m_ && i_ < m_->nparts && !tn_part_child_of(m_, i_)) i_++;
        }

      public:
        iterator(tn_module *m, int i) : m_(m), i_(i), each_() { find(); }
        named_module &operator*() & {
            each_.name = m_->part[i_].name;
            each_.value = nn::module(tn_part_child_of(m_, i_));
            return each_;
        }
        named_module operator*() const & { /* of a temporary, too */
            const named_module each = {m_->part[i_].name, nn::module(tn_part_child_of(m_, i_))};
            return each;
        }
        iterator &operator++() {
            i_++;
            find();
            return *this;
        }
        bool operator!=(const iterator &o) const { return i_ != o.i_; }
        bool operator==(const iterator &o) const { return i_ == o.i_; }
    };
    iterator begin() const { return iterator(of_.get(), 0); }
    iterator end() const { return iterator(of_.get(), of_.defined() ? of_.get()->nparts : 0); }
};
inline named_modules module::children() const { return named_modules(*this); }

/* The text that torch prints. */
template <class T>
inline std::basic_ostream<char, T> &operator<<(std::basic_ostream<char, T> &s, const module &m) {
    char *text = m.defined() ? tn_module_text_at(nullptr, 0, m.get()) : nullptr;
    s << (text ? text : "module()");
    if (text) tn_alloc_free(text, detail::length(text) + 1);
    if (!text && m.defined()) detail::check();
    return s;
}

/* --- the user's functions, as C calls them ---------------------------------------------------- */

namespace calls { /* private */
using tn::detail::call;
template <class F>
struct visit_call {
    F &f;
    tn_module *m;
    const char *path;
    void operator()() {
        nn::module each(m);
        f(each, path);
    }
};
template <class F>
inline bool visit(tn_module *m, const char *path, void *user) {
    visit_call<F> run = {*static_cast<F *>(user), m, path};
    return call(run);
}
template <class F>
struct without_path {
    F &f;
    void operator()(nn::module &m, const char *) { f(m); }
};
template <class F>
struct before_call {
    F &f;
    tn_mframe *frame;
    void operator()() { f(nn::module(frame->m), tensor(tn_input(frame, 0))); }
};
template <class F>
inline bool before(tn_mframe *frame, void *user) {
    before_call<F> run = {*static_cast<F *>(user), frame};
    return call(run) && tn_ok();
}
/* Hands the tensor in a user's object to the innermost scope. */
inline tn_tensor *lent(tensor &t) { return t.defined() ? tn_lend(t.release()) : nullptr; }
template <class F, class R>
struct after_call {
    F &f;
    tn_mframe *frame;
    tensor out;
    void operator()() {
        out = f(nn::module(frame->m), tensor(tn_input(frame, 0)), tensor(frame->out[0]));
    }
};
template <class F>
struct after_call<F, void> {
    F &f;
    tn_mframe *frame;
    tensor out;
    void operator()() {
        f(nn::module(frame->m), tensor(tn_input(frame, 0)), tensor(frame->out[0]));
    }
};
template <class F>
inline bool after(tn_mframe *frame, void *user) {
    typedef decltype(detail::some<F>()(nn::module(), tensor(), tensor())) result;
    after_call<F, result> run = {*static_cast<F *>(user), frame, tensor()};
    if (!call(run) || !tn_ok()) return false;
    if (run.out.defined() && run.out.get() != frame->out[0]) frame->out[0] = lent(run.out);
    return tn_ok();
}
template <class F>
inline int64_t add_hook(tn_module *m, int when, tn_module_hook_fn run, const F &f, site at) {
    F *copy = detail::copied(f);
    const int64_t n =
        copy ? tn_module_hook_at(at.file, at.line, m, when, run, copy, &detail::drop<F>) : 0;
    if (!n) {
        delete copy;
        detail::check();
    }
    return n;
}
} // namespace calls

template <class F>
inline typename calls::takes_path<F>::type module::apply(F f, site at) const {
    return told(tn_module_walk_at(at.file, at.line, p_, &calls::visit<F>, &f));
}
template <class F, class M>
inline auto module::apply(F f, site at) const -> decltype(void(f(detail::place<M>())), bool()) {
    calls::without_path<F> run = {f};
    return apply(run, at);
}
template <class F>
inline int64_t module::hook_before(F f, site at) const {
    return calls::add_hook(p_, TN_BEFORE_FORWARD, &calls::before<F>, f, at);
}
template <class F>
inline int64_t module::hook_after(F f, site at) const {
    return calls::add_hook(p_, TN_AFTER_FORWARD, &calls::after<F>, f, at);
}

namespace calls {
/* The modules of a list, for a range. */
class members {
    tn_module *m_;
    int i_;
    nn::module each_;

  public:
    members(tn_module *m, int i) : m_(m), i_(i) {}
    nn::module &operator*() & { return each_ = nn::module(tn_part_child_of(m_, i_)); }
    nn::module operator*() const & { return nn::module(tn_part_child_of(m_, i_)); }
    members &operator++() {
        i_++;
        return *this;
    }
    bool operator!=(const members &o) const { return i_ != o.i_; }
    bool operator==(const members &o) const { return i_ == o.i_; }
};
/* The first of several modules as arguments, with the line of the call. */
struct placed {
    const nn::module &first;
    site at;
    placed(const nn::module &m, site s = site::here()) : first(m), at(s) {}
};
} // namespace calls

/* --- the classes of rows ---------------------------------------------------------------------- */

} // namespace nn
/* A module as an argument, which the constructor that gets it takes: an object, which is held once
 * more for it, or a pointer of C. */
struct module_ref {
    struct one { /* held where the constructor of C is called, no earlier */
        tn_module *at;
        bool object;
        operator tn_module *() const { return object ? tn_module_hold(at) : at; }
    } value;
    module_ref(tn_module *m = nullptr) {
        value.at = m;
        value.object = false;
    }
    module_ref(const nn::module &m) {
        value.at = m.get();
        value.object = true;
    }
};
/* Modules as an argument, which the constructor that gets them takes: {a, b} of objects, each of
 * which is held once more for it, or of pointers of C. */
struct modules_ref {
    /* Turned into C's list where the constructor of C is called, no earlier: until then nothing is
     * held, so an exception leaves nothing behind. */
    struct list {
        tn_modules at;
        bool objects;
        operator tn_modules() const {
            for (int64_t i = 0; objects && i < at.n; i++) tn_module_hold(at.at[i]);
            return at;
        }
    } value;
    modules_ref() { borrow(nullptr, 0); }
    modules_ref(const list &l) : value(l) {}
    modules_ref(tn_modules l) { give(l); }
    modules_ref(std::initializer_list<tn_module *> l) {
        give(tn_modules_of(l.begin(), static_cast<int64_t>(l.size())));
    }
    modules_ref(std::initializer_list<nn::module> l) { borrow(l.begin(), l.size()); }
    template <class C>
    modules_ref(const C &c, typename detail::only<decltype(detail::data_of(detail::some<C>())),
                                                  nn::module>::type * = nullptr) {
        borrow(c.data(), c.size());
    }

  private:
    void give(tn_modules l) {
        value.at = l;
        value.objects = false;
    }
    /* A module has one member, so an array of them is an array of pointers. */
    void borrow(const nn::module *at, size_t n) {
        static_assert(sizeof(nn::module) == sizeof(tn_module *), "a module is a pointer");
        give(
            tn_modules_of(static_cast<tn_module *const *>(n ? static_cast<const void *>(at) : this),
                          static_cast<int64_t>(n)));
        value.objects = true;
    }
};

namespace detail {
/* What a class of a row is made of: an object, or for C's names the pointer. */
template <class T>
struct made_in_c {
    T *p_;
    void made(T *fresh) { p_ = fresh; }
    TN_USE_RESULT T *give() const { return p_; }
};
template <class K, class H>
struct kept {
    typedef H type;
};
template <class H>
struct kept<as_c, H> {
    typedef made_in_c<typename H::c_type> type;
};
template <class K, class S>
class module_of : public kept<K, nn::module>::type {
  protected:
    S *self() const { return static_cast<S *>(static_cast<void *>(this->p_)); }
    tensor part_at(tn_tensor *S::*part) const { return tensor(this->p_ ? self()->*part : nullptr); }
    nn::module part_at(tn_module *S::*part) const {
        return nn::module(this->p_ ? self()->*part : nullptr);
    }
    void same(const nn::module &m, const char *row, site at) {
        if (m.defined() && detail::is_text(m.get()->row->name, row))
            this->p_ = tn_module_hold(m.get());
        else if (!tn_error_set(TN_TYPE, at.file, at.line, "the module is %s, not of the row %s",
                               m.defined() ? m.type() : "undefined", row))
            detail::check();
    }

  public:
    /* The arguments of the constructor. */
    TNI_OWN_COPY const decltype(S::o) &options() const {
        static const S none = S();
        return this->p_ ? self()->o : none.o;
    }
};
} // namespace detail

/* Of a class whose constructor takes a list: sequential net{a, b}; net.append(c); net[0]. */
#define TNI_MODULE_LIST(name)                                                                     \
    name(std::initializer_list<nn::module> l, site at = site::here()) {                           \
        const tn_nn_##name##_args a = {TN_NO_DTYPE, TN_NO_DEVICE, modules_ref(l).value};          \
        this->made(tn_nn_##name##_at(at.file, at.line, &a));                                      \
    }                                                                                             \
    explicit name(site at = site::here()) : name(std::initializer_list<nn::module>(), at) {}      \
    template <class... M> /* sequential(a, b) as sequential{a, b} */                              \
    name(calls::placed a, const nn::module &b, const M &...m) : name({a.first, b, m...}, a.at) {} \
    bool append(const nn::module &m, site at = site::here()) const {                              \
        return this->told(                                                                        \
            tn_module_append_at(at.file, at.line, this->p_, tn_module_hold(m.get())));            \
    }                                                                                             \
    size_t size() const { return this->p_ ? static_cast<size_t>(this->p_->nparts) : 0; }          \
    nn::module operator[](int i) const { /* undefined if there is none */                         \
        const bool in = this->p_ && i >= 0 && i < this->p_->nparts;                               \
        return nn::module(in ? tn_part_child_of(this->p_, i) : nullptr);                          \
    }                                                                                             \
    calls::members begin() const { return calls::members(this->p_, 0); }                          \
    calls::members end() const { return calls::members(this->p_, static_cast<int>(size())); }

namespace nn {

/* --- modules of your own ---------------------------------------------------------------------- */

/* Your own module. It has a name for messages, parts, and a forward:
 *
 *     struct net : tn::nn::custom {
 *         tn::nn::linear fc1 = add("fc1", tn::nn::linear(784, 128));
 *         tn::nn::linear fc2 = add("fc2", tn::nn::linear(128, 10));
 *         tn::tensor scale = add_parameter("scale", tn::ones({10}));
 *         net() : custom("Net") {}
 *         tn::tensor forward(const tn::tensor &x) override { return fc2(fc1(x).relu()) * scale; }
 *     };
 *     net n;     n(x);     n.parameters();     n.save("net.safetensors");
 *
 * The object must live as long as its module is called. A module that outlives it, say in a
 * Sequential, keeps its parts, but its forward is an error. make<net>() puts the object on the heap
 * and gives a module that owns it:
 *     tn::nn::sequential both{tn::nn::make<net>(), tn::nn::relu()}; */
class custom : public module {
    bool on_heap_;   /* the tn_module owns this object, and not the other way round */
    tn_module *own_; /* held here, whatever becomes of p_; NULL on the heap */

    static custom *object_of(tn_module *m) { return static_cast<custom *>(m->user); }
    struct forward_call {
        custom *object;
        tn::tensor in, out;
        void operator()() { out = object->forward(in); }
    };
    static bool run_forward(tn_mframe *f) {
        if (!f->m->user)
            return tn_error_set(TN_INVALID, nullptr, 0,
                                "its C++ object has ended before the module: make it by "
                                "tn::nn::make<...>(), whose module owns the object");
        forward_call run = {object_of(f->m), tn::tensor(tn_input(f, 0)), tn::tensor()};
        if (!detail::call(run) || !tn_ok()) return false;
        if (!run.out.defined())
            return tn_error_set(TN_INVALID, nullptr, 0, "forward returned an undefined tensor");
        f->out[0] = run.out.get() == run.in.get() ? run.in.get() : calls::lent(run.out);
        return f->out[0] != nullptr;
    }
    struct reset_call {
        custom *object;
        void operator()() { object->reset_parameters(); }
    };
    static bool run_reset(tn_module *m) {
        reset_call run = {object_of(m)};
        return !run.object || (detail::call(run) && tn_ok());
    }
    static void run_destroy(tn_module *m) {
        custom *object = object_of(m);
        m->user = nullptr;
        if (object && object->on_heap_) delete object;
    }
    void give_child(const char *name, const nn::module &child, site at) {
        tn_module *m = tn_module_hold(child.get());
        told(tn_part_child_at(at.file, at.line, p_, name, nullptr, m));
    }
    template <class T>
    friend class holder;

  protected:
    /* type: the name in messages and printed text, borrowed for as long as the module lives. */
    TNI_OWN_COPY explicit custom(const char *type = "Module", site at = site::here())
        : on_heap_(false), own_(nullptr) {
        static const tn_mrow row = {"Module", nullptr,    nullptr,      sizeof(tn_module), nullptr,
                                    nullptr,  nullptr,    nullptr,      nullptr,           nullptr,
                                    nullptr,  &run_reset, &run_forward, &run_destroy,      nullptr};
        tn_module *m = static_cast<tn_module *>(tn_module_new_at(at.file, at.line, &row));
        if (m) {
            m->user = this;
            m->type = type;
        }
        made(tn_module_finish_at(at.file, at.line, m));
        own_ = tn_module_hold(p_);
    }

  public:
    custom(const custom &) = delete;
    custom &operator=(const custom &) = delete;
    virtual ~custom() {
        if (own_ && tn_context_exists() && own_->user == this) own_->user = nullptr;
        tn_module_free(own_);
        if (on_heap_) p_ = nullptr;
    }

    /* What a call of the module computes. */
    virtual tn::tensor forward(const tn::tensor &x) {
        (void)x;
        tn_error_set(TN_UNSUPPORTED, nullptr, 0, "has no forward of one tensor");
        detail::check();
        return tn::tensor();
    }
    /* What reset() does here, after it has reset the children. */
    virtual void reset_parameters() {}

    /* Adds a module under a name without a dot, and returns it. */
    template <class M>
    M &add(const char *name, M &child, site at = site::here()) {
        give_child(name, child, at);
        return child;
    }
    template <class M>
    M add(const char *name, M &&child, site at = site::here()) {
        give_child(name, child, at);
        return static_cast<M &&>(child);
    }
    /* Adds a tensor, which the module shares: to() and load() change the tensor returned. */
    tn::tensor add_parameter(const char *name, const tn::tensor &t, bool requires_grad = true,
                             site at = site::here()) {
        if (requires_grad && t.defined()) t.requires_grad_(true, at);
        told(tn_part_give_at(at.file, at.line, p_, TN_PARAM, name, nullptr, t.get()));
        return t;
    }
    tn::tensor add_buffer(const char *name, const tn::tensor &t, bool saved = true,
                          site at = site::here()) {
        const tn_part_kind kind = saved ? TN_BUFFER : TN_TRANSIENT;
        told(tn_part_give_at(at.file, at.line, p_, kind, name, nullptr, t.get()));
        return t;
    }
};

/* A module that owns an object of yours: auto n = tn::nn::make<net>(); n(x); n->fc1 */
template <class T>
class holder : public module {
  public:
    /* Takes an object that new made. */
    explicit holder(T *object) {
        custom *c = object;
        if (!c || !c->p_) {
            delete object;
            return;
        }
        p_ = c->p_;
        c->on_heap_ = true;
        tn_module_free(c->own_);
        c->own_ = nullptr;
    }
    T *operator->() const { return static_cast<T *>(static_cast<custom *>(p_->user)); }
    T &operator*() const { return *operator->(); }
};
template <class T, class... A>
inline holder<T> make(A &&...args) {
    T *object = new (std::nothrow) T(static_cast<A &&>(args)...);
    if (!object && !tn_error_set(TN_MEMORY, nullptr, 0, "out of memory for a module"))
        detail::check();
    return holder<T>(object);
}

/* --- initial values --------------------------------------------------------------------------- */

/* torch.nn.init; see nn.h. Each writes into t without recording and returns it. */
namespace init {
inline tn::tensor constant_(tensor_ref t, double value, site at = site::here()) {
    return detail::as_objects::written(tn_nn_init_constant_at(at.file, at.line, t.value, value));
}
inline tn::tensor uniform_(tensor_ref t, double from = 0, double to = 1, site at = site::here()) {
    return detail::as_objects::written(tn_nn_init_uniform_at(at.file, at.line, t.value, from, to));
}
inline tn::tensor normal_(tensor_ref t, double mean = 0, double std = 1, site at = site::here()) {
    return detail::as_objects::written(tn_nn_init_normal_at(at.file, at.line, t.value, mean, std));
}
inline tn::tensor xavier_uniform_(tensor_ref t, double gain = 1, site at = site::here()) {
    return detail::as_objects::written(
        tn_nn_init_xavier_uniform_at(at.file, at.line, t.value, gain));
}
inline tn::tensor xavier_normal_(tensor_ref t, double gain = 1, site at = site::here()) {
    return detail::as_objects::written(
        tn_nn_init_xavier_normal_at(at.file, at.line, t.value, gain));
}
inline tn::tensor kaiming_uniform_(tensor_ref t, double a = 0, tn_fan mode = TN_FAN_IN,
                                   tn_nn_init_for nonlinearity = TN_INIT_LEAKY_RELU,
                                   site at = site::here()) {
    return detail::as_objects::written(
        tn_nn_init_kaiming_uniform_at(at.file, at.line, t.value, a, mode, nonlinearity));
}
inline tn::tensor kaiming_normal_(tensor_ref t, double a = 0, tn_fan mode = TN_FAN_IN,
                                  tn_nn_init_for nonlinearity = TN_INIT_LEAKY_RELU,
                                  site at = site::here()) {
    return detail::as_objects::written(
        tn_nn_init_kaiming_normal_at(at.file, at.line, t.value, a, mode, nonlinearity));
}
} // namespace init

} // namespace nn
TNI_TN_END
#endif

#endif
