/* call.h - how to call an operator; the families follow.
 *
 *     tn_add(x, y, .alpha = 2)             options are keywords with torch's defaults
 *     tn_add_scalar(x, 2), tn_add_(x, y)   with a number for a tensor; in place
 *     tn_add(x, y, .out = z)               into a given tensor
 *     tnp_add(x, y, 1)                     all arguments in order, for libraries and bindings
 *     tn_add_at(file, line, &args)         the function behind the keywords, with a struct
 *
 * A result is new and belongs to the scope; that of an in-place call or of .out is borrowed. On
 * failure it is NULL (or false), with an error. The comment of each operator says what it computes,
 * and has torch's schema (names, order and defaults of its arguments), the shapes that it takes and
 * returns, (*) for any shape, and an example. */
#ifndef TNI_API_CALL_H
#define TNI_API_CALL_H

#include "types.h"

/* A call in which a value of another type is an error, not a warning. */
#if defined(__cplusplus)
#define TNI_STRICT(...) (__VA_ARGS__)
#elif defined(__clang__)
#define TNI_STRICT(...)                                                             \
    _Pragma("clang diagnostic push")                                                \
        _Pragma("clang diagnostic ignored \"-Winitializer-overrides\"")             \
            _Pragma("clang diagnostic error \"-Wint-conversion\"")                  \
                _Pragma("clang diagnostic error \"-Wincompatible-pointer-types\"")  \
                    _Pragma("clang diagnostic error \"-Wmissing-braces\"")          \
                        _Pragma("clang diagnostic error \"-Wexcess-initializers\"") \
                            __VA_ARGS__ _Pragma("clang diagnostic pop")
#elif defined(__GNUC__) && __GNUC__ >= 12
#define TNI_STRICT(...)                                                                      \
    __extension__({                                                                          \
        _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverride-init\"") \
            _Pragma("GCC diagnostic ignored \"-Woverride-init-side-effects\"")               \
                _Pragma("GCC diagnostic error \"-Wint-conversion\"")                         \
                    _Pragma("GCC diagnostic error \"-Wincompatible-pointer-types\"")         \
                        _Pragma("GCC diagnostic error \"-Wmissing-braces\"") __VA_ARGS__;    \
        _Pragma("GCC diagnostic pop")                                                        \
    })
#else
#if defined(__GNUC__) /* before gcc 12, calls in the arguments of calls cannot have _Pragma */
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
#define TNI_STRICT(...) __VA_ARGS__
#endif

/* Calls f##_at with an argument struct. Defaults come first, so that the user's values override
 * them. */
#ifndef __cplusplus
#define TNI_CALL_AS(f, args, ...) TNI_STRICT(f(__FILE__, __LINE__, &(args){__VA_ARGS__}))
#endif
#define TNI_CALL(f, ...) TNI_CALL_AS(f##_at, f##_args, __VA_ARGS__)

#endif
