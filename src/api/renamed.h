/* renamed.h - old names, each with a warning; they go with the next release.
 *
 * TN_NO_RENAMED leaves them out. */
#ifndef TNI_API_RENAMED_H
#define TNI_API_RENAMED_H

#include "compiler.h"

#if !defined(TN_NO_RENAMED) && (defined(__GNUC__) || defined(__clang__))
#define TNI_RENAMED(old, new_name) TNI_WARNING(TNI_TEXT_(old is called new_name now)) new_name
#define TNI_WARNING(text) TNI_PRAGMA(GCC warning text)
#define TNI_PRAGMA(text) _Pragma(#text)
#else
#define TNI_RENAMED(old, new_name) new_name
#endif

#ifndef TN_NO_RENAMED
#define tn_forget TNI_RENAMED(tn_forget, tn_detach_)
#define tn_no_requires_grad(t) TNI_RENAMED(tn_no_requires_grad, tn_set_requires_grad)(t, false)
#define tn_error_on TNI_RENAMED(tn_error_on, tn_set_error_handler)
#define tn_lines_on TNI_RENAMED(tn_lines_on, tn_set_line_decoder)
#define tn_generator_get TNI_RENAMED(tn_generator_get, tn_generator_state)
#define tn_generator_set TNI_RENAMED(tn_generator_set, tn_generator_set_state)
#define tn_history_drop TNI_RENAMED(tn_history_drop, tn_history_free)
#define tn_own TNI_RENAMED(tn_own, tn_take)
#define tn_module_set TNI_RENAMED(tn_module_set, tn_module_set_tensor)
#define tn_step_lr TNI_RENAMED(tn_step_lr, tn_optim_step_lr)
#define tn_cosine_lr TNI_RENAMED(tn_cosine_lr, tn_optim_cosine_lr)
#define tn_lambda_lr TNI_RENAMED(tn_lambda_lr, tn_optim_lambda_lr)
#define tn_clip_grad_norm TNI_RENAMED(tn_clip_grad_norm, tn_nn_clip_grad_norm_)
#define tn_init_gain TNI_RENAMED(tn_init_gain, tn_nn_init_gain)
#define tn_init_constant_ TNI_RENAMED(tn_init_constant_, tn_nn_init_constant_)
#define tn_init_uniform_ TNI_RENAMED(tn_init_uniform_, tn_nn_init_uniform_)
#define tn_init_normal_ TNI_RENAMED(tn_init_normal_, tn_nn_init_normal_)
#define tn_init_xavier_uniform_ TNI_RENAMED(tn_init_xavier_uniform_, tn_nn_init_xavier_uniform_)
#define tn_init_xavier_normal_ TNI_RENAMED(tn_init_xavier_normal_, tn_nn_init_xavier_normal_)
#define tn_init_kaiming_uniform_ TNI_RENAMED(tn_init_kaiming_uniform_, tn_nn_init_kaiming_uniform_)
#define tn_init_kaiming_normal_ TNI_RENAMED(tn_init_kaiming_normal_, tn_nn_init_kaiming_normal_)
#endif

#endif
