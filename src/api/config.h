/* config.h - the compiler, the language and the linkage; nothing else depends on a compiler by
 * name.
 *
 *   TENSOR_IMPLEMENTATION   in one C or C++ file before the include: compiles the library there
 *   TENSOR_STATIC           everything static: private to each file that includes the
 *                           implementation
 *   TN_IMPORT               no library here: calls go through the table that another module of the
 *                           process hands over (tn_import); for files that are a whole module
 *   TN_EXPORT               defines tn_exported(), that table
 *   TN_PREFIX               a token put before every public symbol, so that two versions live in
 *                           one program
 *   TN_API                  linkage of public functions, where `extern` is not enough (a DLL, say)
 *   TN_NO_THREADS           no pthreads or Win32 threads: one thread, no locks
 *   TN_NO_AVX512            without the kernels for AVX-512: a smaller program
 *   TN_NO_FMA               x86-64 without its FMA instruction: libm's fma, scalar kernels alone */
#ifndef TNI_API_CONFIG_H
#define TNI_API_CONFIG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__FAST_MATH__) || defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "tensor.h gives the same bits everywhere: no -ffast-math, no -ffinite-math-only"
#endif

#define TN_VERSION_MAJOR 0
#define TN_VERSION_MINOR 1
#define TN_VERSION "0.1.0"

#define TNI_JOIN_(a, b) a##b
#define TNI_JOIN(a, b) TNI_JOIN_(a, b)
#define TNI_TEXT_(a) #a
#define TNI_TEXT(a) TNI_TEXT_(a)

#if defined(__GNUC__) || defined(__clang__)
#define TNI_UNUSED __attribute__((unused))
#define TNI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define TNI_LIKELY(x) __builtin_expect(!!(x), 1)
#define TNI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TNI_NOINLINE __attribute__((noinline))
#define TNI_INLINE static inline __attribute__((always_inline, unused))
#define TNI_HIDDEN __attribute__((visibility("hidden")))
#else
#define TNI_UNUSED
#define TNI_PRINTF(text, first)
#define TNI_LIKELY(x) (x)
#define TNI_UNLIKELY(x) (x)
#define TNI_NOINLINE
#define TNI_INLINE static inline
#define TNI_HIDDEN
#endif

#ifdef __cplusplus
#define TNI_EXTERN_C_BEGIN extern "C" {
#define TNI_EXTERN_C_END }
#define TNI_RESTRICT
#else
#define TNI_EXTERN_C_BEGIN
#define TNI_EXTERN_C_END
#define TNI_RESTRICT restrict
#endif

/* C++ classes and overloads are compiled into every file that uses them and merged by the linker:
 * their namespace names prefix and layout (the packed header defines it), or two versions would be
 * merged. */
#ifndef TNI_NAMESPACE
#define TNI_NAMESPACE tn_objects
#endif
#if defined(TENSOR_STATIC) || defined(TN_IMPORT)
#define TNI_NAMESPACE_BEGIN namespace {
#else
#define TNI_NAMESPACE_BEGIN inline namespace TNI_NAMESPACE {
#endif
#define TNI_NAMESPACE_END }

#ifndef TN_API
#if defined(TENSOR_STATIC) || defined(TN_IMPORT)
#define TN_API static TNI_UNUSED
#else
#define TN_API extern
#endif
#endif

/* Private functions: static in the packed header, hidden when src/ is built as separate objects. */
#ifdef TNI_OBJECTS
#define TN_PRIV TNI_HIDDEN
#else
#define TN_PRIV static TNI_UNUSED
#endif

/* Private constant data that is declared before it is defined. C++ has no tentative definitions,
 * an unnamed namespace gives the same: internal linkage for a name declared extern. The definition
 * stands between TNI_PRIVATE_BEGIN and TNI_PRIVATE_END. */
#if defined(TNI_OBJECTS)
#define TN_PRIV_DECLARE(type, name) extern TNI_HIDDEN const type name
#define TN_PRIV_DEFINE(type, name) const type name
#elif defined(__cplusplus)
#define TN_PRIV_DECLARE(type, name) \
    namespace {                     \
    extern const type name;         \
    }
#define TN_PRIV_DEFINE(type, name) const type name
#else
#define TN_PRIV_DECLARE(type, name) static const type name
#define TN_PRIV_DEFINE(type, name) static TNI_UNUSED const type name
#endif
#if defined(__cplusplus) && !defined(TNI_OBJECTS)
#define TNI_PRIVATE_BEGIN namespace {
#define TNI_PRIVATE_END }
#else
#define TNI_PRIVATE_BEGIN
#define TNI_PRIVATE_END
#endif

/* Around a row: C++ before C++20 knows designated initialisers as an extension. */
#if defined(__cplusplus)
#define TNI_ROW_BEGIN                                                              \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wpragmas\"") \
        _Pragma("GCC diagnostic ignored \"-Wpedantic\"")                           \
            _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"") TNI_ROW_DESIGNATED
#ifdef __clang__
#define TNI_ROW_DESIGNATED
#else
#define TNI_ROW_DESIGNATED _Pragma("GCC diagnostic ignored \"-Wc++20-extensions\"")
#endif
#define TNI_ROW_END _Pragma("GCC diagnostic pop")
#else
#define TNI_ROW_BEGIN
#define TNI_ROW_END
#endif

#endif
