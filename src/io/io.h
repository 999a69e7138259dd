/* io.h (room) - tensors as text, and formats of files on the base's whole-file reading and atomic
 * writing. Calls no operators. */
#ifndef TNI_IO_IO_H
#define TNI_IO_IO_H

#include "../api/io.h"
#include "../tensor/tensor.h"

/* Enters a public function of this room: NULL when an error is pending or there is no memory for
 * a block. */
TN_PRIV tni_block *tni_io_enter(const char *file, int line);
/* Leaves it: tells the handler of a failure. */
TN_PRIV void tni_io_leave(tni_block *b);

/* Elements of `bytes` each between the file's little (or, for IDX, big) end and the host's;
 * in place. */
TN_PRIV void tni_swap_bytes(void *at, int64_t count, int64_t bytes);
TN_PRIV bool tni_host_is_little(void);

/* Of safetensors files: the largest header, the format's own limit; bytes of a buffer on the stack
 * through which files are read and written. */
enum { TNI_SAFE_HEADER_MAX = 100000000, TNI_SAFE_CHUNK = 4096 };

/* Reads and drops bytes. */
TN_PRIV bool tni_file_skip(tni_file *f, int64_t bytes);

#endif
