/* watch.h - what tests of the backend ask of the emulation. The same programs run on a GPU (make
 * gpu): streams go there as it likes, nobody counts the runtime's calls or makes them fail, and
 * there may be one device; CHECK_EMULATED is left out, and so are tests that need more. */
#ifndef TNC_TESTS_WATCH_H
#define TNC_TESTS_WATCH_H

#ifdef TNC_EMULATION
#include "emulation.h"
static inline void take_order(int order) { emu_settings().order = order; }
static inline emu_counters runtime_calls() { return emu_counts(); }
#define CHECK_EMULATED(ok) CHECK(ok)
#else
struct emu_counters {
    long long allocs, frees, waits, pinned, unpinned;
};
static inline emu_counters runtime_calls() { return {}; }
static inline void take_order(int) {}
#define CHECK_EMULATED(ok) (void)0
#endif
static inline bool two_devices() {
    int n = 0;
    return cudaGetDeviceCount(&n) == cudaSuccess && n > 1;
}

#endif
