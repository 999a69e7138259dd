/* random.h - random streams: torch's CPU generator (MT19937) and Philox for devices and parallel
 * streams.
 *
 * MT19937: M. Matsumoto, T. Nishimura, 1998. Philox4x32-10: J. Salmon et al., SC 2011.
 * A generator belongs to one thread at a time. */
#ifndef TNI_API_RANDOM_H
#define TNI_API_RANDOM_H

#include "tensor.h"

TNI_EXTERN_C_BEGIN

/* Seeds the context's default generator: the same seed gives torch.manual_seed's numbers. */
TN_API void tn_manual_seed(uint64_t seed);
TN_API tn_generator *tn_default_generator(void);      /* borrowed */
TN_API tn_generator *tn_generator_new(uint64_t seed); /* owned; freed with tn_generator_free */
TN_API void tn_generator_free(tn_generator *generator);
TN_API void tn_generator_seed(tn_generator *generator, uint64_t seed);
/* State as torch.get_rng_state's bytes (TN_GENERATOR_BYTES of them). set: false and FORMAT when
 * they are no state. */
#define TN_GENERATOR_BYTES 5056
TN_API void tn_generator_get(const tn_generator *generator, uint8_t state[TN_GENERATOR_BYTES]);
TN_API bool tn_generator_set(tn_generator *generator, const uint8_t state[TN_GENERATOR_BYTES]);

TNI_EXTERN_C_END
#endif
