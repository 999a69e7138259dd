/* data.h (room) - data sets and loaders: private part. Sees the public chapters alone. */
#ifndef TNI_DATA_DATA_H
#define TNI_DATA_DATA_H

#include "../api/data.h"
#include "../nn/nn.h"

/* Bytes of one item of a field; checked when the set is made. */
TN_PRIV int64_t tni_field_bytes(const tn_field *f);
/* The number train.<name> of a checkpoint, by its header; NaN where it has none. */
TN_PRIV bool tni_checkpoint_number(const char *path, const char *name, double *value);

#endif
