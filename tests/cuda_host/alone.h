/* alone.h - for the self-tests: each test, and each violation, in a process of its own. */
#ifndef EMU_TESTS_ALONE_H
#define EMU_TESTS_ALONE_H

#include "emulation.h"
#include "../check.h"
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct alone_said {
    int status;       /* of waitpid */
    std::string text; /* what went to stderr, if it was to be read */
};
/* Runs f in a child, which ends with 1 when a check of it failed. */
template <class F>
static alone_said alone(F f, bool read_errors) {
    int ends[2], status = -1;
    alone_said said = {-1, ""};
    fflush(stdout);
    if (pipe(ends)) return said;
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        if (read_errors) dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        check_failures = 0;
        f();
        fflush(stdout);
        _exit(check_failures != 0);
    }
    close(ends[1]);
    char part[512];
    for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) said.text.append(part, (size_t)n);
    close(ends[0]);
    waitpid(child, &status, 0);
    said.status = status;
    return said;
}
static inline bool alone_has(const alone_said &said, const char *sentence) {
    if (said.text.find(sentence) != std::string::npos) return true;
    printf("    wanted \"%s\", status %d: %.300s\n", sentence, said.status, said.text.c_str());
    return false;
}
/* The statements abort with this in the sentence. */
#define CHECK_STOPS(sentence, ...)                                             \
    do {                                                                       \
        const alone_said said_ = alone([&] { __VA_ARGS__; }, true);            \
        CHECK(WIFSIGNALED(said_.status) && WTERMSIG(said_.status) == SIGABRT); \
        CHECK(alone_has(said_, sentence));                                     \
    } while (0)
/* The statements are stopped by ASan, in a program that has it. */
#define CHECK_POISON(...)                                           \
    do {                                                            \
        const alone_said said_ = alone([&] { __VA_ARGS__; }, true); \
        CHECK(!EMU_ASAN || said_.status);                           \
        CHECK(!EMU_ASAN || alone_has(said_, "AddressSanitizer"));   \
    } while (0)
#define ALONE_TEST(name)                                                                     \
    {                                                                                        \
#name, [] {                                                                                \
            const alone_said said_ = alone(name, false);                                           \
            if (said_.status) check_report(0, __FILE__, __LINE__, "the test's process fails");     \
        } \
    }

/* --- what most tests need -------------------------------------------------------------------- */

static inline cudaStream_t new_stream() {
    cudaStream_t s = NULL;
    CHECK_EQ(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
    return s;
}
static inline cudaEvent_t new_event() {
    cudaEvent_t e = NULL;
    CHECK_EQ(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), cudaSuccess);
    return e;
}
template <class T>
static T *new_array(int n) { /* on the current device */
    void *at = NULL;
    CHECK_EQ(cudaMalloc(&at, sizeof(T) * (size_t)n), cudaSuccess);
    return (T *)at;
}
template <class T>
static T *new_pinned(int n) {
    void *at = NULL;
    CHECK_EQ(cudaHostAlloc(&at, sizeof(T) * (size_t)n, cudaHostAllocDefault), cudaSuccess);
    return (T *)at;
}
template <class T>
static std::vector<T> fetched(const T *device, int n, cudaStream_t s) {
    std::vector<T> host((size_t)n);
    CHECK_EQ(cudaMemcpyAsync(host.data(), device, sizeof(T) * (size_t)n, cudaMemcpyDeviceToHost, s),
             cudaSuccess);
    CHECK_EQ(cudaStreamSynchronize(s), cudaSuccess);
    return host;
}
#endif
