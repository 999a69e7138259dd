/* give.h - what gradients of rows call beside tn_give (api/row.h). */
#ifndef TNI_AUTOGRAD_GIVE_H
#define TNI_AUTOGRAD_GIVE_H

#include "../call/call.h"

/* Gives t, which does not depend on input i, to it. In a graph of gradients t's derivative for the
 * input is zero, as torch's, where it would be none. Without that graph it is tn_give. */
TN_PRIV void tni_give_flat(tn_gradient *g, int i, tn_tensor *t);

#endif
