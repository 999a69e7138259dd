/* show.c - shows progress: a bar on a terminal, else lines; keeps losses for the chart. */
#include "fashion.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void show_begin(show *s) {
    show fresh = {{NULL, 0, 0, {0}, 0, 0}, false, 0};
    *s = fresh;
    s->terminal = isatty(1) != 0;
}

void show_end(show *s) { free(s->history.loss); }

static void bar(const tn_progress *p) {
    enum { WIDTH = 16 };
    char blocks[WIDTH + 1] = "";
    int done = (int)(WIDTH * p->step / (p->steps ? p->steps : 1));
    for (int i = 0; i < WIDTH; i++) blocks[i] = i < done ? '#' : '.';
    printf("\r\033[Kepoch %2lld/%lld [%s] loss %.3f  %5.1f %%  %.0f images/s  %.0f s left",
           (long long)p->epoch + 1, (long long)p->epochs, blocks, p->loss, 100 * p->accuracy,
           p->rate, p->remaining);
    fflush(stdout);
}

static bool keep_loss(history *h, double loss) {
    if (h->steps == h->room) {
        int64_t room = h->room ? 2 * h->room : 1024;
        float *more = (float *)realloc(h->loss, (size_t)room * sizeof *more);
        if (!more) return false;
        h->loss = more, h->room = room;
    }
    h->loss[h->steps++] = (float)loss;
    return true;
}

bool show_progress(const tn_progress *p, void *user) {
    show *s = (show *)user;
    switch (p->event) {
    case TN_EVENT_BEGIN:
        s->history.first = p->epoch;
        if (p->epoch) printf("resuming after epoch %lld\n", (long long)p->epoch);
        return true;
    case TN_EVENT_EPOCH: s->shown = 0; return true;
    case TN_EVENT_STEP:
        if (s->terminal && p->seconds > s->shown + 0.1) s->shown = p->seconds, bar(p);
        return keep_loss(&s->history, p->batch_loss);
    case TN_EVENT_EPOCH_END:
        if (s->history.epochs < 400) s->history.accuracy[s->history.epochs++] = p->test_accuracy;
        printf("%sepoch %2lld/%lld  loss %.4f  accuracy %6.2f %%  test %6.2f %%  %6.0f images/s\n",
               s->terminal ? "\r\033[K" : "", (long long)p->epoch + 1, (long long)p->epochs,
               p->loss, 100 * p->accuracy, 100 * p->test_accuracy, p->rate);
        fflush(stdout); /* fallthrough */
    default: return true;
    }
}
