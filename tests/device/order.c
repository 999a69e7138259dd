/* order.c - see order.h. */
#include "order.h"

#include <string.h>

order_clock order_streams[ORDER_ALL], order_host;
int64_t order_races, order_untold;

void order_merge(order_clock *to, const order_clock *from) {
    for (int k = 0; k < ORDER_ALL; k++)
        if (to->at[k] < from->at[k]) to->at[k] = from->at[k];
}
bool order_has(const order_clock *c, const order_clock *what) {
    for (int k = 0; k < ORDER_ALL; k++)
        if (c->at[k] < what->at[k]) return false;
    return true;
}

/* What the host has waited for comes before all that it asks from then on. */
void order_ask(int stream) {
    order_merge(&order_streams[stream], &order_host);
    order_streams[stream].at[stream]++;
}

void order_read(order_uses *u, int stream) {
    const order_clock *now = &order_streams[stream];
    order_races += now->at[u->writer] < u->written;
    u->read[stream] = now->at[stream];
}
void order_write(order_uses *u, int stream) {
    const order_clock *now = &order_streams[stream];
    bool late = now->at[u->writer] < u->written;
    for (int k = 0; k < ORDER_ALL; k++) late = late || now->at[k] < u->read[k];
    order_races += late;
    u->writer = stream;
    u->written = now->at[stream];
}

void order_free(order_uses *u) {
    for (int k = 0; k < ORDER_ALL; k++) {
        const bool used = u->read[k] || (u->written && u->writer == k);
        const uint64_t last = u->writer == k && u->written > u->read[k] ? u->written : u->read[k];
        /* The owner's stream may be behind that use by an event. */
        if (used && k != u->owner && !u->told[k] && order_streams[u->owner].at[k] < last)
            order_untold++;
        if (u->told[k]) u->read[k] = order_streams[k].at[k]; /* all that was asked by now */
    }
    u->freed = true;
}
bool order_is_over(const order_uses *u) {
    for (int k = 0; k < ORDER_ALL; k++)
        if (u->told[k] && k != u->owner && order_host.at[k] < u->read[k] &&
            order_streams[u->owner].at[k] < u->read[k])
            return false;
    return true;
}

void order_begin(void) { order_races = order_untold = 0; }
