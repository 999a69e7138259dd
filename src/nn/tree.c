/* tree.c - looking at a tree of modules: places of parts, paths, named lists. Knows no kind of
 * module, only kinds of parts. */
#include "nn.h"

/* --- parts ------------------------------------------------------------------------------------ */

TN_PRIV void **tni_part_place(const tn_module *m, int i) {
    tn_part *p = &m->part[i];
    return p->field ? (void **)(void *)((char *)(uintptr_t)m + p->field) : &p->at;
}

/* Whether part i exists and is a child, or a tensor. */
static bool tree_has(const tn_module *m, int i, bool child) {
    return m && i >= 0 && i < m->nparts && (m->part[i].kind == TN_CHILD) == child;
}
TN_API tn_tensor *tn_part_tensor_of(const tn_module *m, int i) {
    return tree_has(m, i, false) ? (tn_tensor *)*tni_part_place(m, i) : NULL;
}
TN_API tn_module *tn_part_child_of(const tn_module *m, int i) {
    return tree_has(m, i, true) ? (tn_module *)*tni_part_place(m, i) : NULL;
}

/* --- paths ------------------------------------------------------------------------------------ */

/* Writes the path of m below root behind to[0..at-1]; `to` NULL only searches. Depth first and
 * without memory, since it serves error messages. In a tree that shares much the number of paths is
 * exponential, so the search ends after `*steps` modules. */
static bool tree_find(const tn_module *root, const tn_module *m, char *to, size_t room, size_t at,
                      int64_t *steps) {
    if (root == m) {
        if (to) to[at] = 0;
        return true;
    }
    for (int i = 0; i < root->nparts && --*steps > 0; i++) {
        const tn_module *child = tn_part_child_of(root, i);
        /* The path with this child's name ends at `next`: a dot in front unless it is
         * the first name. */
        size_t n = strlen(root->part[i].name), next = at + n + (at > 0);
        /* A path that does not fit is left out and not cut. */
        if (!child || (to && next >= room)) continue;
        if (to && at > 0) to[at] = '.';
        if (to) memcpy(to + next - n, root->part[i].name, n);
        if (tree_find(child, m, to, room, to ? next : 0, steps)) return true;
    }
    return false;
}

TN_PRIV bool tni_tree_path(const tn_module *root, const tn_module *m, char *to, size_t room) {
    int64_t steps = 1000000;
    if (tree_find(root, m, to, room, 0, &steps)) return true;
    to[0] = 0;
    return false;
}

/* --- visiting --------------------------------------------------------------------------------- */

/* A walk in torch's order: a module, then its children. `path` is the module's; `once`: a module is
 * entered at its first place only. */
typedef struct tree_walk {
    bool (*visit)(struct tree_walk *w, tn_module *m);
    tni_buffer path;
    tni_map seen;
    bool once;
    void *user;
} tree_walk;

/* Visits m and what lies below it; false as soon as a visit fails or memory is out. */
static bool tree_enter(tree_walk *w, tn_module *m) {
    int64_t before = w->path.n;
    if (w->once) {
        bool fresh;
        if (!tni_map_at(&w->seen, m, &fresh)) return false;
        if (!fresh) return true;
    }
    if (!w->visit(w, m)) return false;
    for (int i = 0; i < m->nparts; i++) {
        tn_module *child = tn_part_child_of(m, i);
        if (!child) continue;
        tni_buffer_text(&w->path, "%s%s", before ? "." : "", m->part[i].name);
        if (w->path.failed || !tree_enter(w, child)) return false;
        /* Takes the child's name off the path again. */
        w->path.n = before;
    }
    return true;
}

/* A whole walk; false also if `visit` ended it. */
static bool tree_run(tree_walk *w, const tn_module *m) {
    bool ok;
    if (!tn_ok()) return false;
    if (!m) return tni_nn_error(TN_INVALID, "module is NULL");
    ok = tree_enter(w, (tn_module *)(uintptr_t)m);
    tni_map_free(&w->seen);
    tni_buffer_free(&w->path);
    return ok;
}

/* A walk that ends at m has found it. */
static bool tree_is_not(tree_walk *w, tn_module *m) { return m != (tn_module *)w->user; }
TN_PRIV bool tni_tree_contains(const tn_module *root, const tn_module *m) {
    tree_walk w = {
        tree_is_not, {NULL, 0, 0, false}, {NULL, NULL, 0, 0}, true, (void *)(uintptr_t)m};
    return !tree_run(&w, root); /* without memory: true, the safe answer */
}

typedef struct tree_visitor {
    tn_module_visit visit;
    void *user;
} tree_visitor;
static bool tree_call(tree_walk *w, tn_module *m) {
    tree_visitor *v = (tree_visitor *)w->user;
    /* A NUL behind the path, which is not part of it. */
    if (!tni_buffer_add(&w->path, "", 1)) return false;
    w->path.n--;
    return v->visit(m, w->path.at, v->user);
}
/* `visit` is the program's: it says the places of its own errors. */
TN_API bool tn_module_walk_at(const char *file, int line, tn_module *m, tn_module_visit visit,
                              void *user) {
    tree_visitor v = {visit, user};
    tree_walk w = {tree_call, {NULL, 0, 0, false}, {NULL, NULL, 0, 0}, true, &v};
    tni_step step;
    bool ok = m && visit;
    tni_place_begin(&step, file, line);
    if (!ok) tni_nn_error(TN_INVALID, "module or visit is NULL");
    tni_step_end(&step);
    return ok && tree_run(&w, m);
}

/* --- named lists ------------------------------------------------------------------------------ */

typedef struct tree_entry {
    int64_t name; /* offset in names */
    tn_tensor *tensor;
} tree_entry;
typedef struct tree_collect {
    tni_buffer names, entries;
    tni_map tensors; /* listed already */
    unsigned kinds;  /* bit k: tn_part_kind k */
    bool twice;
} tree_collect;

/* Adds t to the list, under the walk's path and its name, unless it is listed already. Names go
 * into one buffer that may move, so an entry keeps an offset. */
static bool tree_collect_one(tree_walk *w, tree_collect *c, const char *name, tn_tensor *t) {
    tree_entry e = {c->names.n, t};
    bool fresh = true;
    if (!c->twice && !tni_map_at(&c->tensors, t, &fresh)) return false;
    if (!fresh) return true;
    tni_buffer_add(&c->names, w->path.at, w->path.n);
    if (w->path.n) tni_buffer_add(&c->names, ".", 1);
    tni_buffer_add(&c->names, name, (int64_t)strlen(name) + 1);
    tni_buffer_add(&c->entries, &e, sizeof e);
    return !c->names.failed && !c->entries.failed;
}

/* torch's order within a module: parameters, then buffers, then those that are not saved. */
static bool tree_collect_parts(tree_walk *w, tn_module *m) {
    tree_collect *c = (tree_collect *)w->user;
    static const uint8_t order[] = {TN_PARAM, TN_BUFFER, TN_TRANSIENT};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < m->nparts; i++) {
            tn_tensor *t = tn_part_tensor_of(m, i);
            if (!t || m->part[i].kind != order[k] || !(c->kinds >> order[k] & 1)) continue;
            if (!tree_collect_one(w, c, m->part[i].name, t)) return false;
        }
    return true;
}

/* One block, which tn_named_free frees whole: the entries, then the names.
 * n = -1 without memory. */
static tn_named_list tree_list(const tree_collect *c) {
    tn_named_list list = {NULL, 0, 0, false};
    int64_t n = c->entries.n / (int64_t)sizeof(tree_entry);
    const tree_entry *e = (const tree_entry *)(const void *)c->entries.at;
    char *names;
    if (n == 0) return list;
    /* Entries first, so that they are aligned; the texts of the names behind them. */
    list.bytes = n * (int64_t)sizeof *list.at + c->names.n;
    list.at = (tn_named *)tn_alloc((size_t)list.bytes);
    list.n = list.at ? n : -1;
    if (!list.at) return list;
    /* Offsets become pointers now that the texts lie still. */
    names = (char *)(list.at + n);
    memcpy(names, c->names.at, (size_t)c->names.n);
    for (int64_t i = 0; i < n; i++) {
        list.at[i].name = names + e[i].name;
        list.at[i].tensor = e[i].tensor;
    }
    return list;
}

/* The tensors of some kinds in m and below; twice: a shared one under each of its names. n = -1
 * with an error. */
static tn_named_list tree_tensors(const char *file, int line, const tn_module *m, unsigned kinds,
                                  bool twice) {
    tn_named_list none = {NULL, -1, 0, false};
    tree_collect c;
    /* A state dict has all names of a module that is shared as well, so it is entered
     * at each place. */
    tree_walk w = {tree_collect_parts, {NULL, 0, 0, false}, {NULL, NULL, 0, 0}, !twice, NULL};
    tni_step step;
    tni_place_begin(&step, file, line);
    memset(&c, 0, sizeof c);
    c.kinds = kinds;
    c.twice = twice;
    w.user = &c;
    if (tree_run(&w, m)) none = tree_list(&c);
    tni_buffer_free(&c.names);
    tni_buffer_free(&c.entries);
    tni_map_free(&c.tensors);
    tni_step_end(&step);
    return none;
}
TN_API tn_named_list tn_module_parameters_at(const char *file, int line, const tn_module *m) {
    return tree_tensors(file, line, m, 1u << TN_PARAM, false);
}
TN_API tn_named_list tn_module_buffers_at(const char *file, int line, const tn_module *m) {
    return tree_tensors(file, line, m, 1u << TN_BUFFER | 1u << TN_TRANSIENT, false);
}
TN_API tn_named_list tn_module_state_dict_at(const char *file, int line, const tn_module *m) {
    return tree_tensors(file, line, m, 1u << TN_PARAM | 1u << TN_BUFFER, true);
}
TN_PRIV tn_named_list tni_module_tensors(const tn_module *m) {
    return tree_tensors(NULL, 0, m, 1u << TN_PARAM | 1u << TN_BUFFER | 1u << TN_TRANSIENT, false);
}

/* --- by path ---------------------------------------------------------------------------------- */

/* The part with this name of n characters; -1 if there is none. */
static int tree_part(const tn_module *m, const char *name, size_t n) {
    for (int i = 0; i < m->nparts; i++)
        if (strncmp(m->part[i].name, name, n) == 0 && m->part[i].name[n] == 0) return i;
    return -1;
}

/* The module that holds the last name of a path, and that name; NULL when a step is missing. */
static const tn_module *tree_owner(const tn_module *m, const char **path) {
    const char *dot;
    while (m && (dot = strchr(*path, '.')) != NULL) {
        m = tn_part_child_of(m, tree_part(m, *path, (size_t)(dot - *path)));
        *path = dot + 1;
    }
    return m;
}

TN_API tn_module *tn_module_child_at(const char *file, int line, const tn_module *m,
                                     const char *path) {
    /* The path "" is m itself. */
    const char *name = path ? path : "";
    const tn_module *child = *name ? tree_owner(m, &name) : m;
    tni_step step;
    tni_step_begin(&step, file, line, m ? m->type : NULL);
    if (child && *name) child = tn_part_child_of(child, tree_part(child, name, strlen(name)));
    if (!child) tni_nn_error(TN_INVALID, "module \"%s\" does not exist", path ? path : "");
    tni_step_end(&step);
    return (tn_module *)(uintptr_t)child;
}

TN_API tn_tensor *tn_module_tensor_at(const char *file, int line, const tn_module *m,
                                      const char *path) {
    const char *name = path ? path : "";
    const tn_module *owner = tree_owner(m, &name);
    /* No part has an empty name, so the path "" finds nothing. */
    tn_tensor *t = owner ? tn_part_tensor_of(owner, tree_part(owner, name, strlen(name))) : NULL;
    tni_step step;
    tni_step_begin(&step, file, line, m ? m->type : NULL);
    if (!t) tni_nn_error(TN_INVALID, "tensor \"%s\" does not exist", path ? path : "");
    tni_step_end(&step);
    return t;
}

TN_API bool tn_module_set_tensor_at(const char *file, int line, tn_module *m, const char *path,
                             tn_tensor *t) {
    const char *name = path ? path : "";
    const tn_module *owner = tree_owner(m, &name);
    int i = owner ? tree_part(owner, name, strlen(name)) : -1;
    void **at;
    tni_step step;
    if (!tn_ok()) return false;
    if (i < 0 || owner->part[i].kind == TN_CHILD) {
        tni_step_begin(&step, file, line, m ? m->type : NULL);
        tni_nn_error(TN_INVALID, "tensor \"%s\" does not exist", path ? path : "");
        tni_step_end(&step);
        return false;
    }
    at = tni_part_place(owner, i);
    if (*at == (void *)t) return true;
    /* One more owner first: t may live only through the part that it replaces. A freed one has
     * none. */
    tni_step_begin(&step, file, line, m->type);
    i = !t || tn_retain(t);
    tni_step_end(&step);
    if (!i) return false;
    tn_release((tn_tensor *)*at);
    *at = t;
    return true;
}

/* --- switches --------------------------------------------------------------------------------- */

TN_API void tn_module_train(tn_module *m, bool training) {
    if (!m) return;
    m->training = training;
    for (int i = 0; i < m->nparts; i++) tn_module_train(tn_part_child_of(m, i), training);
}

TN_API void tn_module_zero_grad(tn_module *m) {
    for (int i = 0; m && i < m->nparts; i++) {
        if (m->part[i].kind == TN_PARAM) tn_zero_grad(tn_part_tensor_of(m, i));
        tn_module_zero_grad(tn_part_child_of(m, i));
    }
}

/* Sets the switch on all parameters of m and below; false at the first that cannot have it, such as
 * one of integers. */
static bool tree_requires_grad(tn_module *m, bool requires_grad) {
    for (int i = 0; i < m->nparts; i++) {
        tn_tensor *t = m->part[i].kind == TN_PARAM ? tn_part_tensor_of(m, i) : NULL;
        tn_module *child = tn_part_child_of(m, i);
        if (t && !tn_requires_grad_at(NULL, 0, t, requires_grad)) return false;
        if (child && !tree_requires_grad(child, requires_grad)) return false;
    }
    return true;
}
TN_API bool tn_module_requires_grad_at(const char *file, int line, tn_module *m,
                                       bool requires_grad) {
    tni_step step;
    bool ok;
    tni_place_begin(&step, file, line);
    ok = m ? tree_requires_grad(m, requires_grad) : tni_nn_error(TN_INVALID, "module is NULL");
    tni_step_end(&step);
    return ok;
}

TN_API tn_tensors tn_parameters_at(const char *file, int line, tn_module *m) {
    /* The list's names are not needed: its tensors go into an array that m keeps until
     * the next call. */
    tn_named_list list = tn_module_parameters_at(file, line, m);
    tn_tensors none = {NULL, -1};
    tn_tensor **at;
    tni_step step;
    if (list.n < 0) return none;
    tni_place_begin(&step, file, line);
    /* One place more than needed, so that a module without parameters is no request for 0 bytes. */
    at = (tn_tensor **)tn_alloc((size_t)(list.n + 1) * sizeof *at);
    tni_step_end(&step);
    if (at) {
        if (m->parameters) tn_alloc_free(m->parameters, (size_t)(m->nparameters + 1) * sizeof *at);
        m->parameters = at;
        m->nparameters = list.n;
        for (int64_t i = 0; i < list.n; i++) at[i] = list.at[i].tensor;
        none = tn_tensors_of(at, list.n);
    }
    tn_named_free(list);
    return none;
}
