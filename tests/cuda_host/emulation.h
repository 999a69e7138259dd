/* emulation.h - CUDA on the host: the kernels of a device, compiled by g++ or clang++ as C++17 with
 * -DTNC_EMULATION, run under gdb and ASan without a GPU.
 *
 * Kernels see CUDA's words and TNC_SHARED, TNC_SHARED_DYNAMIC; hosts see the runtime's functions
 * and TNC_LAUNCH, TNC_LAUNCH_PLAIN, TNC_LAUNCH_SHARED. Wrong use ends the process with a sentence
 * that says kernel, launch, block and thread. README.md lists the rules, the settings in the
 * environment, and what the emulation cannot show. */
#ifndef EMULATION_H
#define EMULATION_H

#include "emu_base.h"    /* settings, sentences, counters, errors */
#include "emu_memory.h"  /* of devices, guarded; pinned */
#include "emu_fiber.h"   /* threads */
#include "emu_block.h"   /* barriers, warps, shared memory, grids */
#include "emu_words.h"   /* of kernels */
#include "emu_stream.h"  /* streams, events */
#include "emu_graph.h"   /* capture */
#include "emu_runtime.h" /* cudaStream..., cudaEvent..., devices */
#include "emu_copy.h"    /* cudaMalloc, cudaHostAlloc, cudaMemcpyAsync */
#include "emu_launch.h"  /* TNC_LAUNCH, cudaGraphLaunch */

#endif
