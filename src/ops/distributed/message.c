/* message.c - tensors from one rank to another.
 *
 * A send returns when its receive has the data, as MPI's synchronous mode: two ranks that send to
 * each other first wait for ever, which the time limit ends. Rank -1 is nobody, as MPI_PROC_NULL
 * (MPI 4.1, 3.10): what is sent to it goes nowhere, and what is received from it changes nothing,
 * so that ranks at the ends of a line need no case of their own. */
#include "distributed.h"

static bool message_check(tn_frame *f) {
    char why[160];
    tn_collective c;
    tn_code code;
    tn_collective_of(&c, f);
    if (c.kind == TN_RECV && c.peer < 0) f->unwritten = 1;
    code = tni_distributed_fault(f, &c, why, sizeof why);
    return !code || tn_fail(f, code, "%s", why);
}

/* Both ends compare what they send and receive, so both fail. */
static bool message_fits(tn_frame *f, const tn_collective *c, const distributed_word *mine,
                         const distributed_word *other) {
    char a[240], b[240];
    const bool sends = c->kind == TN_SEND;
    if (!memcmp(mine, other, sizeof *mine)) return true;
    return tn_fail(f, TN_INVALID, "rank %d of %d: this rank %s %s, but rank %d %s %s", (int)c->rank,
                   (int)c->size, sends ? "sends" : "receives",
                   tni_distributed_text(a, sizeof a, mine) + strlen("send of "), (int)c->peer,
                   sends ? "receives" : "sends",
                   tni_distributed_text(b, sizeof b, other) + strlen("send of "));
}

static void message_words(const tn_collective *c, distributed_word *mine) {
    tni_distributed_describe(mine, c);
    mine->kind = TN_SEND; /* one word for both ends */
    mine->peer = -1;
}

static bool send_look(tn_frame *f) {
    TN_NOTE(distributed_note, note, f);
    TN_ARGS(distributed_send, a, f);
    distributed_word mine, other;
    tn_collective c;
    char *room;
    note->result = NULL;
    tn_collective_of(&c, f);
    if (c.peer < 0) return true;
    const int64_t bytes = c.input->numel * tni_dtype_size(c.input);
    if (!(room = (char *)tni_group_room(f->block, c.group, bytes + TNI_ALIGN))) return false;
    message_words(&c, &mine);
    return tni_group_send(f->block, c.group, c.peer, a->tag, &mine, &other, (int64_t)sizeof mine,
                          tni_dense(f, c.input, &room), bytes) &&
           message_fits(f, &c, &mine, &other);
}
/* Sends the tensor to rank dst of the group, which receives it with the same tag; returns when it
 * has it. dst -1: to nobody. */
TN_OPERATOR(distributed_send, "_distributed_send(Tensor tensor, int dst, *, int tag=0) -> ()",
            TN_DOC(.shapes = "tensor (*)", .example = "tn_distributed_send(x, 1)"),
            .check = message_check, .look = send_look, .run = tni_distributed_run,
            .sample = "(2,3) -1 | () -1 tag=3 | (0,3) -1 | (300) -1")

static bool recv_look(tn_frame *f) {
    TN_NOTE(distributed_note, note, f);
    TN_ARGS(distributed_recv, a, f);
    distributed_word mine, other;
    tn_collective c;
    void *room;
    note->result = NULL;
    tn_collective_of(&c, f);
    if (c.peer < 0) return true;
    const int64_t bytes = c.output->numel * tni_dtype_size(c.output);
    if (!(room = tni_group_room(f->block, c.group, bytes + TNI_ALIGN))) return false;
    message_words(&c, &mine);
    if (!tni_group_recv(f->block, c.group, c.peer, a->tag, &mine, &other, (int64_t)sizeof mine,
                        room, bytes) ||
        !message_fits(f, &c, &mine, &other))
        return false;
    note->result = room;
    return true;
}
/* Receives into the tensor what rank src of the group sends to this one with the same tag. Shape
 * and dtype are the same on both ends. src -1: from nobody, the tensor stays. */
TN_OPERATOR(distributed_recv, "_distributed_recv(Tensor(a!) tensor, int src, *, int tag=0) -> ()",
            TN_DOC(.shapes = "tensor (*)", .example = "tn_distributed_recv(x, 0)"),
            .check = message_check, .look = recv_look, .run = tni_distributed_run,
            .sample = "(2,3) -1 | () -1 tag=3 | (0,3) -1 | (300) -1")
