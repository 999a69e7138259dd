/* compiler.h - private: what depends on compiler, language and linkage. Readers may skip it. */
#ifndef TNI_API_COMPILER_H
#define TNI_API_COMPILER_H

#include "config.h"

/* Trimmed builds lack operators; errors of lookups by name say so.
 * tools/trim defines TNI_TRIMMED. */
#ifdef TENSOR_TRIM
#define TNI_TRIMMED 1
#elif !defined(TNI_TRIMMED)
#define TNI_TRIMMED 0
#endif
#if TNI_TRIMMED
#define TNI_OR_NOT_BUILT ", or was trimmed from this build"
#else
#define TNI_OR_NOT_BUILT ""
#endif
/* What only tests read of a row: tools/amalgamate packs rows with it. */
#ifdef TENSOR_TRIM
#define TNI_FOR_TESTS(text) NULL
#else
#define TNI_FOR_TESTS(text) text
#endif
#ifndef TNI_INFERENCE_ONLY /* defined by tools/trim --inference */
#define TNI_INFERENCE_ONLY 0
#endif
#ifndef TNI_REPLAYS /* tools/trim defines them 0 where nothing begins a recording, a profile */
#define TNI_REPLAYS 1
#endif
#ifndef TNI_PROFILES
#define TNI_PROFILES 1
#endif
/* TNI_IF(word, does, otherwise): what only some programs need. tools/trim keeps what `does`
 * mentions where the sources have the word within another (`.padding_mode`,
 * TN_PADDING_MODE_REFLECT) or, of a function, where it is reached; else it defines
 * TNI_NAMES_word 0. */
#define TNI_IF(word, does, otherwise) TNI_JOIN(TNI_IF_, TNI_NAMES_##word)(does, otherwise)
#define TNI_IF_1(does, otherwise) does
#define TNI_IF_0(does, otherwise) otherwise
#ifndef TNI_NAMES_padding_mode
#define TNI_NAMES_padding_mode 1
#endif
#ifndef TNI_NAMES_capturable
#define TNI_NAMES_capturable 1
#endif
#ifndef TNI_NAMES_clip_norm
#define TNI_NAMES_clip_norm 1
#endif
#ifndef TNI_NAMES_autocast
#define TNI_NAMES_autocast 1
#endif
#ifndef TNI_NAMES_scaler
#define TNI_NAMES_scaler 1
#endif
#ifndef TNI_NAMES_tni_vmap_call
#define TNI_NAMES_tni_vmap_call 1
#endif
#if TNI_INFERENCE_ONLY
#define TNI_NO_GRADIENT "this build is without gradients"
#else
#define TNI_NO_GRADIENT "the operator has no gradient"
#endif

/* Whether this file compiles part n: 1 kernels, 2 the core, 3 operators, 4 all of tensor_nn.h. */
#ifdef TENSOR_PART
#define TNI_PART(n) (TENSOR_PART == (n))
#define TNI_OBJECTS
#else
#define TNI_PART(n) 1
#endif

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

/* Before a function whose result has no other use: compilers warn if it is dropped. A cast to void
 * silences clang, and g++ with the standard attribute. */
#if defined(__cplusplus) && defined(TN_IMPORT) /* functions are pointers there */
#define TN_USE_RESULT
#elif defined(__cplusplus) && (__cplusplus >= 201703L || (defined(__GNUC__) && !defined(__clang__)))
#define TN_USE_RESULT [[nodiscard]]
#elif defined(__GNUC__) || defined(__clang__)
#define TN_USE_RESULT __attribute__((warn_unused_result))
#else
#define TN_USE_RESULT
#endif

/* TNI_NAMED_OPTIONS is the last member of a struct of arguments. It has no bytes and takes no
 * value, so an argument too many in a keyword macro does not compile. clang needs no member for
 * that, and C++ has no such macros. TNI_RESULT is a call of TN_USE_RESULT in such a macro: gcc does
 * not see through its block that the result is dropped, so it passes through a function. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__cplusplus) && !defined(__TINYC__)
__extension__ typedef struct tni_nothing {
} tni_nothing;
#define TNI_NAMED_OPTIONS tni_nothing options_need_names[1];
#define TNI_RESULT_OF(type) \
    TN_USE_RESULT TNI_INLINE type *tni_result_of_##type(type *result) { return result; }
#define TNI_RESULT(type, ...) tni_result_of_##type(__VA_ARGS__)
#else
#define TNI_NAMED_OPTIONS
#define TNI_RESULT_OF(type)
#define TNI_RESULT(type, ...) __VA_ARGS__
#endif

/* TNI_RESULT_OR_OUT(words, call) is a call whose tensor must be used, unless its arguments, whose
 * words these are, name .out. gcc folds the search; clang, which does not, looks at the first two
 * points and assumes .out where there are more. */
#if !defined(__clang__) && (!defined(__GNUC__) || defined(__TINYC__) ||            \
                            defined(__INTEL_COMPILER) || defined(__NVCOMPILER)) || \
    defined(__cplusplus)
#define TNI_RESULTS_OR_OUT
#define TNI_RESULT_OR_OUT(words, ...) __VA_ARGS__
#else
#define TNI_RESULTS_OR_OUT                                                     \
    TNI_INLINE tn_tensor *tni_result_out(tn_tensor *result) { return result; } \
    TN_USE_RESULT TNI_INLINE tn_tensor *tni_new_tensor(tn_tensor *result) { return result; }
#define TNI_RESULT_OR_OUT(words, ...) \
    (__builtin_choose_expr(TNI_NAMES_OUT(words), tni_result_out, tni_new_tensor)(__VA_ARGS__))
#if defined(__clang__)
#define TNI_POINT(words) __builtin_strchr(words, '.')
#define TNI_POINT_1(words) TNI_POINT(words "...")
#define TNI_POINT_2(words) TNI_POINT(TNI_POINT_1(words) + 1)
#define TNI_NAMES_OUT(words)                                  \
    (__builtin_strncmp(TNI_POINT_1(words), ".out", 4) == 0 || \
     __builtin_strncmp(TNI_POINT_2(words), ".out", 4) == 0 || \
     __builtin_strlen(TNI_POINT(TNI_POINT_2(words) + 1)) > 3)
#else
#define TNI_NAMES_OUT(words) (__builtin_strlen(__builtin_strstr(words ".out", ".out")) > 4)
#endif
#endif

/* Bytes from p to the end of its object, if the compiler knows them; else the largest size_t. */
#if defined(__GNUC__) || defined(__clang__)
#define TNI_ROOM(p) __builtin_object_size(p, 0)
#else
#define TNI_ROOM(p) SIZE_MAX
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

/* C++ classes and overloads are compiled into every file that uses them and merged by the linker.
 * Their namespace is named by prefix and layout hash, so that two versions are never merged. */
#ifndef TNI_NAMESPACE
#define TNI_NAMESPACE tn_objects
#endif
#if defined(TENSOR_STATIC) || defined(TN_IMPORT)
#define TNI_NAMESPACE_BEGIN namespace {
#else
#define TNI_NAMESPACE_BEGIN inline namespace TNI_NAMESPACE {
#endif
#define TNI_NAMESPACE_END }
/* Of an inline function with a static variable: without it gcc's linker would keep a shared library
 * in memory after dlclose. Names without linkage need nothing. */
#if defined(TENSOR_STATIC) || defined(TN_IMPORT)
#define TNI_OWN_COPY
#else
#define TNI_OWN_COPY TNI_HIDDEN
#endif

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

/* Around a row: designated initialisers are an extension before C++20. */
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

/* Blocks with a mode, such as tn_no_grad: set(enabled) at their begin returns the mode before,
 * which set gets back at their end. */
typedef struct tni_mode_guard {
    bool (*set)(bool enabled);
    bool before, once;
#ifdef __cplusplus
    tni_mode_guard(bool (*f)(bool), bool enabled) : set(f), before(f(enabled)), once(true) {}
    ~tni_mode_guard() { set(before); }
    tni_mode_guard(const tni_mode_guard &) = delete;
    tni_mode_guard &operator=(const tni_mode_guard &) = delete;
#endif
} tni_mode_guard;
#if defined(__cplusplus)
#define TNI_MODE_BLOCK(guard, set, enabled) \
    for (tni_mode_guard guard(set, enabled); guard.once; guard.once = false)
#else
/* leave(&guard) at the end of the guard's block, or where compilers cannot, at its last brace. */
#ifdef __GNUC__
#define TNI_AT_END(leave) __attribute__((cleanup(leave)))
#define TNI_AT_NEXT(leave, guard)
#else
#define TNI_AT_END(leave)
#define TNI_AT_NEXT(leave, guard) , leave(&guard)
#endif
TNI_INLINE void tni_mode_leave(tni_mode_guard *guard) { guard->set(guard->before); }
#define TNI_MODE_BLOCK(guard, set, enabled)                                                       \
    for (tni_mode_guard guard TNI_AT_END(tni_mode_leave) = {set, set(enabled), true}; guard.once; \
         guard.once = false TNI_AT_NEXT(tni_mode_leave, guard))
#endif

/* In a row, TN_DOC(.shapes = "..", .example = "..", .differs = "..") is for readers and for tools
 * (tools/optable): nothing of it is compiled. */
#define TNI_WITHOUT_TN_DOC(...)

#endif
