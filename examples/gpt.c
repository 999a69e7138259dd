/* gpt.c - a small GPT that learns to write like a text, letter after letter.
 *
 * Each letter of a window becomes a vector: what it is plus where it stands. In each block every
 * letter attends to those before it, and then two layers work on each letter alone. From the last
 * vector come the chances of the next letter (A. Radford et al., Language models are unsupervised
 * multitask learners, 2019, whose names the parts have).
 *
 *     cc -O2 -I. examples/gpt.c -o gpt -lm -pthread
 *     ./gpt docs/c.md gpt.safetensors                   learns the text, writes the file, a sample
 *     ./gpt docs/c.md gpt.safetensors 5000              in 5000 steps, for better words
 *     ./gpt --write gpt.safetensors "The tensor" 400    goes on from these words, 400 letters */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LETTERS = 128, SEEN = 64, WIDTH = 64, HEADS = 4, BLOCKS = 2, BATCH = 8, STEPS = 1500 };

/* --- attention: (N, T, WIDTH) -> the same ----------------------------------------------------- */

typedef struct attention {
    tn_module base;
    tn_module *c_attn, *c_proj; /* queries, keys and values at once; what the heads found, joined */
} attention;

static bool attention_forward(tn_mframe *f) {
    attention *s = (attention *)f->m;
    tn_tensor *x = tn_unflatten(tn_forward(s->c_attn, tn_input(f, 0)), 2, TN_DIMS(3, HEADS, -1));
    x = tn_permute(x, TN_DIMS(2, 0, 3, 1, 4)); /* (3, N, HEADS, T, WIDTH / HEADS) */
    tn_tensor *query = tn_select(x, 0, 0), *key = tn_select(x, 0, 1), *value = tn_select(x, 0, 2);
    x = tn_scaled_dot_product_attention(query, key, value, .is_causal = true);
    x = tn_flatten(tn_transpose(x, 1, 2), .start_dim = 2);
    return (f->out[0] = tn_forward(s->c_proj, x)) != NULL;
}
static const tn_mrow attention_row = {
    .name = "Attention", .size = sizeof(attention), .forward = attention_forward};
static tn_module *attention_new(void) {
    attention *s = tn_module_new(&attention_row);
    TN_ADD_CHILD(s, c_attn, tn_nn_linear(WIDTH, 3 * WIDTH));
    TN_ADD_CHILD(s, c_proj, tn_nn_linear(WIDTH, WIDTH));
    return tn_module_finish((tn_module *)s);
}

/* --- a block: x + attention(norm(x)), then x + mlp(norm(x)) ----------------------------------- */

typedef struct block {
    tn_module base;
    tn_module *ln_1, *attn, *ln_2, *mlp;
} block;

static bool block_forward(tn_mframe *f) {
    block *s = (block *)f->m;
    tn_tensor *x = tn_input(f, 0);
    x = tn_add(x, tn_forward(s->attn, tn_forward(s->ln_1, x)));
    x = tn_add(x, tn_forward(s->mlp, tn_forward(s->ln_2, x)));
    return (f->out[0] = x) != NULL;
}
static const tn_mrow block_row = {.name = "Block", .size = sizeof(block), .forward = block_forward};
static tn_module *block_new(void) {
    block *s = tn_module_new(&block_row);
    TN_ADD_CHILD(s, ln_1, tn_nn_layer_norm(TN_DIMS(WIDTH)));
    TN_ADD_CHILD(s, attn, attention_new());
    TN_ADD_CHILD(s, ln_2, tn_nn_layer_norm(TN_DIMS(WIDTH)));
    TN_ADD_CHILD(s, mlp,
                 tn_sequential(tn_nn_linear(WIDTH, 4 * WIDTH), tn_nn_gelu(),
                               tn_nn_linear(4 * WIDTH, WIDTH)));
    return tn_module_finish((tn_module *)s);
}

/* --- the network: letters (N, T), T <= SEEN -> scores of the next (N, T, LETTERS) ------------- */

typedef struct gpt {
    tn_module base;
    tn_module *wte, *wpe, *h, *ln_f, *lm_head;
} gpt;

static bool gpt_forward(tn_mframe *f) {
    gpt *s = (gpt *)f->m;
    tn_tensor *letters = tn_input(f, 0), *places = tn_arange(tn_size(letters, 1));
    tn_tensor *x = tn_add(tn_forward(s->wte, letters), tn_forward(s->wpe, places));
    x = tn_forward(s->ln_f, tn_forward(s->h, x));
    return (f->out[0] = tn_forward(s->lm_head, x)) != NULL;
}
static bool gpt_reset(tn_module *m) { /* so that the first guesses are near equal chances */
    gpt *s = (gpt *)m;
    return tn_normal_(tn_module_tensor(s->wte, "weight"), .std = 0.02) &&
           tn_normal_(tn_module_tensor(s->wpe, "weight"), .std = 0.02);
}
static const tn_mrow gpt_row = {
    .name = "GPT", .size = sizeof(gpt), .reset = gpt_reset, .forward = gpt_forward};
static tn_module *gpt_new(void) {
    gpt *s = tn_module_new(&gpt_row);
    TN_ADD_CHILD(s, wte, tn_nn_embedding(LETTERS, WIDTH));
    TN_ADD_CHILD(s, wpe, tn_nn_embedding(SEEN, WIDTH));
    TN_ADD_CHILD(s, h, tn_sequential(block_new(), block_new()));
    TN_ADD_CHILD(s, ln_f, tn_nn_layer_norm(TN_DIMS(WIDTH)));
    TN_ADD_CHILD(s, lm_head, tn_nn_linear(WIDTH, LETTERS, .bias = false));
    return tn_module_finish((tn_module *)s);
}

/* --- learning --------------------------------------------------------------------------------- */

/* The mean loss over windows drawn from the text. */
static tn_tensor *loss_of(tn_module *net, tn_tensor *text) {
    tn_tensor *start = tn_unsqueeze(tn_randint(tn_numel(text) - SEEN, TN_DIMS(BATCH)), 1);
    tn_tensor *place = tn_add(start, tn_arange(SEEN + 1)); /* (BATCH, SEEN + 1) */
    tn_tensor *window = tn_index(text, TN_LIST(place));
    tn_tensor *guess = tn_forward(net, tn_narrow(window, 1, 0, SEEN));
    tn_tensor *next = tn_narrow(window, 1, 1, SEEN);
    return tn_cross_entropy(tn_flatten(guess, .end_dim = 1), tn_flatten(next));
}

static void learn(tn_module *net, tn_tensor *text, int steps) {
    tn_optimizer *opt = tn_optim_adamw(tn_parameters(net), .lr = 3e-3);
    double mean = 0; /* of the losses since the last printed line */
    for (int step = 1; step <= steps && tn_ok(); step++)
        TN_SCOPE {
            tn_tensor *loss = loss_of(net, text);
            tn_optimizer_zero_grad(opt);
            tn_backward(loss);
            tn_optimizer_step(opt);
            if (step == 1) printf("step %4d  loss %.4f\n", step, tn_item(loss));
            if (step % 100 == 1) mean = 0;
            mean += tn_item(loss) / 100;
            if (step % 100 == 0) printf("step %4d  loss %.4f\n", step, mean);
        }
    tn_optimizer_free(opt);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* What the network sees: the last letters, at most SEEN. */
typedef struct window {
    int64_t letter[SEEN];
    int n;
} window;
static void append(window *w, int64_t letter) {
    if (w->n == SEEN) memmove(w->letter, w->letter + 1, (size_t)--w->n * sizeof letter);
    w->letter[w->n++] = letter;
}
static int64_t draw_next(tn_module *net, const window *w) {
    tn_tensor *score = tn_forward(net, tn_from(w->letter, TN_DIMS(1, w->n), TN_I64));
    score = tn_select(tn_select(score, 0, 0), 0, -1);
    tn_tensor *chance = tn_softmax(tn_div_scalar(score, 0.7), 0); /* 0.7: fewer odd words */
    return tn_item_int(tn_multinomial(chance, 1));
}
/* Prints the words and draws letter after letter. */
static void write_on(tn_module *net, const char *words, int count) {
    window w = {{0}, 0};
    fputs(words, stdout);
    for (; *words; words++) append(&w, *words & 127);
    for (int i = 0; i < count && tn_ok(); i++)
        tn_inference_mode
            TN_SCOPE {
                const int64_t letter = draw_next(net, &w);
                append(&w, letter);
                putchar((int)letter);
            }
    putchar('\n');
}

int main(int argc, char **argv) {
    const bool write = argc > 3 && strcmp(argv[1], "--write") == 0;
    const char *path = argc > 1 && !write ? argv[1] : "docs/c.md";
    const char *file = argc > 2 ? argv[2] : "gpt.safetensors";
    const int count = argc > (write ? 4 : 3) ? atoi(argv[argc - 1]) : write ? 500 : STEPS;
    tn_manual_seed(1);
    tn_module *net = gpt_new();
    if (!write)
        TN_SCOPE {
            tn_tensor *text = tn_to_dtype(tn_load_bytes(path), TN_I64);
            text = tn_masked_select(text, tn_lt_scalar(text, LETTERS));
            if (text && tn_numel(text) <= SEEN)
                tn_error_set(TN_INVALID, path, 0, "expected more than %d letters", SEEN);
            if (tn_ok()) {
                printf("%lld letters\n", (long long)tn_numel(text));
                learn(net, text, count);
                tn_module_save_file(net, file);
            }
        }
    tn_module_free(net);
    tn_module *reader = gpt_new(); /* what was learnt is in the file */
    if (tn_module_load_file(reader, file))
        write_on(reader, write ? argv[3] : "\n## ", write ? count : 500);
    tn_module_free(reader);
    const bool failed = tn_error_print();
    tn_context_free(NULL);
    return failed;
}
