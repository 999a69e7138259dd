/* families.cuh - the list of the files with kernels. A file gives its rows by
 * TNC_FAMILY(name, table) and has a line here. */
#ifndef TNC_CUDA_FAMILIES_CUH
#define TNC_CUDA_FAMILIES_CUH

#include "cuda.cuh"

#define TNC_FAMILIES(X) \
    X(expressions)      \
    X(reductions)       \
    X(statistics)       \
    X(pairs)            \
    X(closeness)        \
    X(rowwise)          \
    X(norms)            \
    X(losses)           \
    X(ctc)              \
    X(scans)            \
    X(running)          \
    X(grid)             \
    X(segments)         \
    X(index)            \
    X(scatter)          \
    X(sort)             \
    X(median)           \
    X(moves)            \
    X(create)           \
    X(optimize)         \
    X(random)           \
    X(products)         \
    X(grouped)          \
    X(factors)          \
    X(reflectors)       \
    X(lu)               \
    X(matrix_exp)       \
    X(conv)             \
    X(pool)             \
    X(pool_places)      \
    X(fold)             \
    X(resample)         \
    X(dft)              \
    X(batch_norm)       \
    X(nccl)

/* Defines the function that gives the table of a family. */
#define TNC_FAMILY(name, table)                                   \
    TNC_PRIV const tn_device_row *tnc_##name##_rows(int *count) { \
        *count = (int)(sizeof(table) / sizeof *(table));          \
        return table;                                             \
    }
#define TNC_FAMILY_DECLARE(name) TNC_PRIV const tn_device_row *tnc_##name##_rows(int *count);
TNC_FAMILIES(TNC_FAMILY_DECLARE)
#undef TNC_FAMILY_DECLARE

#endif
