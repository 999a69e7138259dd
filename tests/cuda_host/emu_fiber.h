/* emu_fiber.h - the threads of a block as fibers: each has a stack, and control goes from the
 * scheduler to one of them and back. ASan is told of every switch. */
#ifndef EMU_FIBER_H
#define EMU_FIBER_H

#include "emu_base.h"
#include <functional>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

enum { EMU_STACK = 1 << 16, EMU_WARP = 32, EMU_MOST_THREADS = 1024 };

#if defined(__x86_64__)
/* Keeps what a call must keep on the stack, and goes on with another stack: swapcontext without its
 * system calls, which cost four times as much as the kernels. */
typedef void *emu_context;
__attribute__((naked, noinline, no_sanitize("address"))) inline void emu_swap(emu_context *,
                                                                              emu_context *) {
    asm("pushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
        "movq %rsp, (%rdi)\n\tmovq (%rsi), %rsp\n\t"
        "popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret");
}
inline void emu_make(emu_context *c, char *stack, void (*f)()) {
    uint64_t *top = (uint64_t *)((uintptr_t)(stack + EMU_STACK) & ~(uintptr_t)15) - 2;
    top[0] = (uint64_t)(uintptr_t)f; /* returned to; then rsp is 8 below a multiple of 16 */
    top[1] = 0;
    *c = top - 6;
    memset(*c, 0, 6 * sizeof *top);
}
#else
typedef ucontext_t emu_context;
inline void emu_swap(emu_context *from, emu_context *to) { swapcontext(from, to); }
inline void emu_make(emu_context *c, char *stack, void (*f)()) {
    getcontext(c);
    c->uc_stack.ss_sp = stack;
    c->uc_stack.ss_size = EMU_STACK;
    c->uc_link = NULL;
    makecontext(c, f, 0);
}
#endif

/* A line of source where threads of a block meet. */
struct emu_line {
    const char *file;
    int line;
    bool operator==(const emu_line &o) const {
        return line == o.line && (file == o.file || strcmp(file, o.file) == 0);
    }
    bool operator!=(const emu_line &o) const { return !(*this == o); }
};

enum emu_state { EMU_RUNS, EMU_AT_BARRIER, EMU_AT_WARP, EMU_DONE };
enum emu_warp_op { EMU_SHUFFLE, EMU_SYNC, EMU_BALLOT };
struct emu_fiber {
    emu_context context;
    char *stack;
    void *fake; /* ASan's */
    dim3 index;
    emu_state state;
    emu_line at; /* where it waits */
    /* of the warp operation in which it waits */
    unsigned mask;
    emu_warp_op op;
    int from;            /* lane; -1: its own value */
    uint64_t value, got; /* given, taken */
};
struct emu_fibers {
    std::vector<emu_fiber> all;
    emu_context scheduler;
    void *scheduler_fake = NULL;
    const void *scheduler_stack = NULL;
    size_t scheduler_bytes = 0;
    const std::function<void()> *body = NULL; /* of a thread */
    emu_fiber *now = NULL;
};
inline emu_fibers &emu_threads() {
    static emu_fibers *fibers = new emu_fibers;
    return *fibers;
}
inline dim3 emu_grid_dim, emu_block_dim, emu_block_index, emu_thread_index;

inline void emu_switch_to(emu_fiber *f) {
    emu_fibers &t = emu_threads();
    t.now = f;
    emu_thread_index = f->index;
    emu_now_at.thread = f->index;
    emu_now_at.in_thread = true;
#if EMU_ASAN
    __sanitizer_start_switch_fiber(&t.scheduler_fake, f->stack, EMU_STACK);
#endif
    emu_swap(&t.scheduler, &f->context);
#if EMU_ASAN
    __sanitizer_finish_switch_fiber(t.scheduler_fake, NULL, NULL);
#endif
    t.now = NULL;
    emu_now_at.in_thread = false;
}
inline void emu_switch_back() {
    emu_fibers &t = emu_threads();
    emu_fiber *f = t.now;
#if EMU_ASAN
    __sanitizer_start_switch_fiber(f->state == EMU_DONE ? NULL : &f->fake, t.scheduler_stack,
                                   t.scheduler_bytes);
#endif
    emu_swap(&f->context, &t.scheduler);
#if EMU_ASAN
    __sanitizer_finish_switch_fiber(f->fake, &t.scheduler_stack, &t.scheduler_bytes);
#endif
}
inline void emu_enter() {
    emu_fibers &t = emu_threads();
#if EMU_ASAN
    __sanitizer_finish_switch_fiber(NULL, &t.scheduler_stack, &t.scheduler_bytes);
#endif
    (*t.body)();
    t.now->state = EMU_DONE;
    emu_switch_back();
}
#endif
