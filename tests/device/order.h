/* order.h - what the null device knows of order: each stream has a clock of all others, which
 * events and waits of the host hand on. A kernel or copy that touches memory which another stream
 * has touched, and no event or wait between, is counted: on a true device it would read or write
 * too early on some days. So a missing wait shows on every day, though all runs at once here. */
#ifndef TESTS_DEVICE_ORDER_H
#define TESTS_DEVICE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum { ORDER_DEVICES = 3, ORDER_STREAMS = 8, ORDER_ALL = ORDER_DEVICES * ORDER_STREAMS };
/* How far each stream is. */
typedef struct order_clock {
    uint64_t at[ORDER_ALL];
} order_clock;
/* What was done with a piece of memory. */
typedef struct order_uses {
    int owner, writer;           /* streams: of its memory, of its last write */
    uint64_t written;            /* when; 0: never */
    uint64_t read[ORDER_ALL];    /* when each stream has read it last */
    bool told[ORDER_ALL], freed; /* told: the library has said that it is used there */
} order_uses;

extern order_clock order_streams[ORDER_ALL], order_host;
extern int64_t order_races;  /* touches without order */
extern int64_t order_untold; /* memory that is freed while a stream uses it that was not told */

void order_ask(int stream); /* something is asked of it */
void order_merge(order_clock *to, const order_clock *from);
bool order_has(const order_clock *c, const order_clock *what); /* c is behind `what` */
void order_read(order_uses *u, int stream);
void order_write(order_uses *u, int stream);
void order_free(order_uses *u);
/* Whether the memory of what was freed may be used again in its stream. */
bool order_is_over(const order_uses *u);
/* Forgets all that was counted. */
void order_begin(void);

#endif
