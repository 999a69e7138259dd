/* here.cuh - tensors of a device as tensors of the host, for rows whose numbers the host draws, and
 * for looks at lengths and labels. */
#ifndef TNC_CUDA_HERE_CUH
#define TNC_CUDA_HERE_CUH

#include "cuda.cuh"

/* Inputs of a call that are of the host now. */
struct tnc_here {
    tn_tensor *own[8];
    unsigned which;
};
/* Memory of the host, in t's layout. NULL with MEMORY. */
TNC_PRIV tn_tensor *tnc_here_like(tn_frame *f, const tn_tensor *t);
/* Inputs k with bit k of `which`, which have elements, are copies of the host, for which it waits.
 * False with an error, and then nothing is changed. */
TNC_PRIV bool tnc_here_begin(tn_frame *f, tnc_here *x, unsigned which);
TNC_PRIV void tnc_here_end(tn_frame *f, tnc_here *x);
/* The row's own look, which reads these inputs. */
TNC_PRIV bool tnc_here_look(tn_frame *f, unsigned which);

#endif
