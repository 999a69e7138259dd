/* vmap.h - what is written for one sample, computed for all samples of a batch at once.
 *
 *     static bool distance(tn_tensor *const *in, tn_tensor **out, void *user) { // of two vectors
 *         (void)user;
 *         out[0] = tn_linalg_vector_norm(tn_sub(in[0], in[1]));
 *         return out[0] != NULL;
 *     }
 *     tn_tensor *in[2] = {points, center}, *d;         // (1000, 3) and (3)
 *     const int64_t dims[2] = {0, TN_NONE};            // center is the same for all
 *     tn_vmap(distance, tn_tensors_of(in, 2), dims, &d, 1, NULL, TN_RANDOM_ERROR); // d: (1000)
 *
 * Inside, a batched tensor has the shape of one sample. A call with batched arguments gives batched
 * results: loops over elements, reductions, products and views compute the whole batch in one call,
 * composed operators by what they are made of, and any other row one sample after another, which is
 * slower and gives the same. Batches nest: a function may use tn_vmap in turn. Gradients with
 * respect to batched tensors (tn_grads) are batched, each of its own sample; gradients pass through
 * tn_vmap as through any call.
 *
 * Errors: what needs the elements of one sample (tn_item, tn_data gives NULL, an if on a value) and
 * results whose size depends on data are UNSUPPORTED; a tensor that is the same for all samples
 * cannot be written in place with what differs between them. Batched tensors belong to the thread
 * that began their batch, and are of no use after its end. */
#ifndef TNI_API_VMAP_H
#define TNI_API_VMAP_H

#include "autograd.h"

TNI_EXTERN_C_BEGIN

/* Random numbers drawn inside: an error; the same for each sample; others for each sample. */
typedef enum tn_randomness { TN_RANDOM_ERROR, TN_RANDOM_SAME, TN_RANDOM_DIFFERENT } tn_randomness;

/* Computes out[0..] from in[0..], of one sample each. False with an error. */
typedef bool (*tn_vmap_fn)(tn_tensor *const *in, tn_tensor **out, void *user);

/* Calls fn once for all samples. in_dims[i]: which dimension of in[i] counts samples, TN_NONE: it
 * is the same for all; in_dims NULL: dimension 0 of each. The sizes of these dimensions must agree.
 * The nout results, in the current scope, count samples in dimension 0. False with an error, and
 * then out[0..] are NULL. */
TN_API bool tn_vmap_at(const char *file, int line, tn_vmap_fn fn, tn_tensors in,
                       const int64_t *in_dims, tn_tensor **out, int64_t nout, void *user,
                       tn_randomness randomness);
#define tn_vmap(fn, in, in_dims, out, nout, user, ...) \
    tn_vmap_at(__FILE__, __LINE__, fn, in, in_dims, out, nout, user, __VA_ARGS__)

/* The same in steps, where no function can be given. tn_vmap_begin opens a batch of size samples in
 * this thread, tn_vmap_end closes the one that was opened last. tn_batched shows a tensor as one
 * sample, its dimension dim counting the samples. tn_unbatched gives the whole batch, with the
 * samples counted by a new dimension dim of the result; of a tensor that is the same for all, it is
 * a view that repeats it. Results are in the current scope. NULL or false with an error. */
TN_API bool tn_vmap_begin_at(const char *file, int line, int64_t size, tn_randomness randomness);
#define tn_vmap_begin(size, ...) tn_vmap_begin_at(__FILE__, __LINE__, size, __VA_ARGS__)
TN_API bool tn_vmap_end(void); /* false: none is open */
TN_USE_RESULT TN_API tn_tensor *tn_batched_at(const char *file, int line, tn_tensor *t,
                                              int64_t dim);
#define tn_batched(t, ...) TNI_RESULT(tn_tensor, tn_batched_at(__FILE__, __LINE__, t, __VA_ARGS__))
TN_USE_RESULT TN_API tn_tensor *tn_unbatched_at(const char *file, int line, tn_tensor *t,
                                                int64_t dim);
#define tn_unbatched(t, ...) \
    TNI_RESULT(tn_tensor, tn_unbatched_at(__FILE__, __LINE__, t, __VA_ARGS__))
/* t as a sample of every batch that is open, repeated in those that it is none of. A new sample: to
 * have a gradient of its own in each (tn_requires_grad of its tn_detach, then tn_grads). NULL with
 * an error. */
TN_USE_RESULT TN_API tn_tensor *tn_batch_each_at(const char *file, int line, tn_tensor *t);
#define tn_batch_each(...) TNI_RESULT(tn_tensor, tn_batch_each_at(__FILE__, __LINE__, __VA_ARGS__))
/* What is known of the batches that are open in this thread, and of a tensor in them. */
TN_API int tn_vmap_depth(void);                /* how many are open */
TN_API tn_randomness tn_vmap_randomness(void); /* of the one opened last; none: TN_RANDOM_ERROR */
TN_API int tn_batch_depth(const tn_tensor *t); /* how many t is a sample of */
TN_API tn_tensor *tn_batch_whole(const tn_tensor *t); /* all samples; t if it is no sample */
TN_API bool tn_is_batched(const tn_tensor *t);        /* t is a sample of the batch opened last */

TNI_EXTERN_C_END
#endif
