/* random.h - generators of torch's random numbers.
 *
 * The generator is MT19937 (M. Matsumoto, T. Nishimura, 1998). One thread at a time may
 * use a generator. */
#ifndef TNI_API_RANDOM_H
#define TNI_API_RANDOM_H

#include "tensor.h"

TNI_EXTERN_C_BEGIN

/* Seeds the default generator; a seed gives the numbers of torch.manual_seed. */
TN_API void tn_manual_seed(uint64_t seed);
/* The calling thread's default generator, borrowed: the current context's, unless
 * tn_set_default_generator has given the thread another one. */
TN_API tn_generator *tn_default_generator(void);
/* From here on the calling thread draws from `generator`, which stays the caller's, in its current
 * context; NULL: from the context's. Returns what was set before; NULL: the context's. Threads that
 * draw at a time need one each. */
TN_API tn_generator *tn_set_default_generator(tn_generator *generator);
/* A new generator, which the caller frees; NULL with an error.
 * tn_randn(TN_DIMS(2, 3), .generator = g) */
TN_API tn_generator *tn_generator_new(uint64_t seed);
TN_API void tn_generator_free(tn_generator *generator);
TN_API void tn_generator_seed(tn_generator *generator, uint64_t seed);
/* The state as the bytes of torch.get_rng_state. set returns false and FORMAT if the bytes are not
 * a state, and then leaves the generator as it was. */
#define TN_GENERATOR_BYTES 5056
TN_API void tn_generator_state(const tn_generator *generator, uint8_t state[TN_GENERATOR_BYTES]);
TN_API bool tn_generator_set_state(tn_generator *generator,
                                   const uint8_t state[TN_GENERATOR_BYTES]);

TNI_EXTERN_C_END
#endif
