/* config.h - options, and the version.
 *
 * Options are macros, defined before the first include:
 *
 *   TENSOR_IMPLEMENTATION   compiles the library in this file; in one C or C++ file only
 *   TENSOR_STATIC           makes everything static: each file with the implementation has its own
 *   TN_IMPORT               for a plugin of one file: it compiles no library but calls the host
 *                           program's. It calls tn_import(table) first, which is false if the host
 *                           has another version of this header; with tensor_nn.h also
 *                           tn_nn_import(table). Before that no function may be called
 *   TN_EXPORT               in the host: defines tn_exported() and, with tensor_nn.h,
 *                           tn_nn_exported(), the tables (const tn_exports *) for the plugin
 *   TN_PREFIX               a token put before every public symbol, so that one program may hold
 *                           two versions
 *   TN_API                  linkage of public functions, if `extern` is not enough (as for a DLL)
 *   TN_NO_THREADS           no pthreads or Win32 threads: one thread, no locks
 *   TN_NO_OVERLOADS         C++ without the last chapter: calls are tnp_ functions; compiles faster
 *   TENSOR_PART             1 to 4: with TENSOR_IMPLEMENTATION, compiles a quarter of the library;
 *                           four files together have it all, and compile at once (docs/trim.md)
 *   TN_CHECK                for development: a tensor that is used after it was freed is always
 *                           found, in all functions, and the error says which line freed it and
 *                           which made it. Best for all files, for the lines; the checks are
 *                           those of the file with the implementation. Each thread keeps the
 *                           headers (192 bytes and more) of the tensors it freed last, up to
 *                           TN_CHECK_BYTES, by default 64 MiB; their data is freed at once
 *   TN_NO_LAYOUT_CHECK      links even with objects compiled with another version of this header
 *   TN_NO_FMA               for x86-64 without FMA instructions: slow, with libm's fma; same bits
 *   TN_USE_LAPACK           factors of linalg (Cholesky, LU, QR, eigenvalues, singular values)
 *                           by the LAPACK that the program links, as OpenBLAS (docs/embedding.md)
 *   TN_LAPACK_NAME(name)    with it: the symbol of a routine, if not name##_; TN_LAPACK_INT: the
 *                           type of Fortran's integers, if not int32_t
 *   TN_HEADER_NAME          "the/name.h" of this file, if you rename it
 *
 * Options for a smaller program that compiles faster (docs/trim.md). Using what they leave out is
 * an error that says so:
 *
 *   TENSOR_TRIM             TENSOR_STATIC, and the compiler drops all operators and classes that
 *                           this file does not call; calls by name find none, tn_row_count() is 0
 *   TN_NO_AVX512            no kernels for AVX-512
 *   TN_ISA_ONLY_AVX2        x86-64: only kernels for AVX2; on other CPUs every call fails
 *   TN_ISA_ONLY_WASM128     emcc -msimd128: only kernels for wasm128
 *   TN_ISA_ONLY_SCALAR      only scalar kernels
 *   TN_NO_COMPLEX           no tensors of complex64 and complex128
 *   TN_NO_HALF              no tensors of float16 and bfloat16
 *   TN_VMAP                 with TENSOR_TRIM: batches (tn_vmap) compute all samples in one call
 *                           where rows have a way of their own, not one after another
 *   TN_NO_DEVICES           no devices but cpu and meta: tn_backend_add fails */
#ifndef TNI_API_CONFIG_H
#define TNI_API_CONFIG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(TENSOR_TRIM) && !defined(TENSOR_STATIC)
#define TENSOR_STATIC
#endif
#ifdef TENSOR_PART
#if defined(TENSOR_STATIC) || defined(TN_PREFIX)
#error "TENSOR_PART: parts refer to each other; no TENSOR_STATIC, TENSOR_TRIM, TN_PREFIX"
#elif TENSOR_PART < 1 || TENSOR_PART > 4
#error "TENSOR_PART is 1, 2, 3 or 4"
#endif
#endif
#if defined(TN_ISA_ONLY_SCALAR) && (defined(TN_ISA_ONLY_AVX2) || defined(TN_ISA_ONLY_WASM128))
#error "TN_ISA_ONLY_SCALAR excludes TN_ISA_ONLY_AVX2 and TN_ISA_ONLY_WASM128"
#endif

#define TN_VERSION_MAJOR 0
#define TN_VERSION_MINOR 1
#define TN_VERSION "0.1.0"

#endif
