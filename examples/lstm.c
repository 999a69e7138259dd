/* lstm.c - an LSTM learns a rhyme letter by letter and recites it.
 *
 * What the network has read is kept in a state that changes with every letter, so to recite it is
 * given one letter at a time (A. Graves, Generating sequences with recurrent neural networks,
 * 2013). examples/python/lstm_lm.py is the same program and prints the same figures.
 *
 *     cc -O2 -I. examples/lstm.c -o lstm -lm -pthread && ./lstm */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <stdio.h>

enum { LETTERS = 128, SEEN = 48, BATCH = 16, WIDTH = 16, HIDDEN = 96, STEPS = 400, LONGEST = 300 };

static const char *const parts[] = {"the house that Jack built.",
                                    "the malt that lay in",
                                    "the rat that ate",
                                    "the cat that killed",
                                    "the dog that worried",
                                    "the cow with the crumpled horn that tossed",
                                    "the maiden all forlorn that milked",
                                    "the man all tattered and torn that kissed"};

/* The rhyme: each line begins with one more part. Its letters, int64. */
static tn_tensor *text_new(void) {
    static int64_t letters[2000];
    int n = 0;
    for (int i = 0; i < (int)(sizeof parts / sizeof *parts); i++) {
        for (const char *at = "This is"; *at; at++) letters[n++] = *at;
        for (int k = i; k >= 0; k--) {
            letters[n++] = ' ';
            for (const char *at = parts[k]; *at; at++) letters[n++] = *at;
        }
        letters[n++] = '\n';
    }
    return tn_from_i64(letters, TN_DIMS(n));
}

/* --- the network ------------------------------------------------------------------------------ */

static tn_module *net_new(void) {
    return tn_nn_module_list(TN_MODULES(tn_nn_embedding(LETTERS, WIDTH),
                                        tn_nn_lstm(WIDTH, HIDDEN, .batch_first = true),
                                        tn_nn_linear(HIDDEN, LETTERS)));
}
/* letters (N, T) -> scores of the letter after each (N, T, LETTERS). The state, NULL and NULL
 * before the first letter, becomes that after the last. */
static tn_tensor *read_on(tn_module *net, tn_tensor *letters, tn_tensor *state[2]) {
    tn_tensor *x = tn_forward(tn_module_child(net, "0"), letters);
    tn_output_h_n_c_n run =
        tn_nn_lstm_forward(tn_module_child(net, "1"), x, .h = state[0], .c = state[1]);
    state[0] = run.h_n;
    state[1] = run.c_n;
    return tn_forward(tn_module_child(net, "2"), run.output);
}

/* The mean loss of the last 100 steps. */
static double learn(tn_module *net, tn_tensor *text) {
    tn_optimizer *opt = tn_optim_adam(tn_parameters(net), .lr = 5e-3);
    double mean = 0;
    for (int step = 1; step <= STEPS && tn_ok(); step++)
        TN_SCOPE {
            tn_tensor *start = tn_randint(tn_numel(text) - SEEN, TN_DIMS(BATCH, 1));
            tn_tensor *window = tn_index(text, TN_LIST(tn_add(start, tn_arange(SEEN + 1))));
            tn_tensor *next = tn_flatten(tn_narrow(window, 1, 1, SEEN)), *state[2] = {NULL, NULL};
            tn_tensor *guess = read_on(net, tn_narrow(window, 1, 0, SEEN), state);
            tn_tensor *loss = tn_cross_entropy(tn_flatten(guess, .end_dim = 1), next);
            tn_optimizer_zero_grad(opt);
            tn_backward(loss);
            tn_nn_clip_grad_norm_(tn_parameters(net), 1.0);
            tn_optimizer_step(opt);
            if (step % 100 == 1) mean = 0;
            mean += tn_item(loss) / 100;
            if (step % 100 == 0) printf("step %4d  loss %.4f\n", step, mean);
        }
    tn_optimizer_free(opt);
    return mean;
}

/* Says the words, and then the likeliest letter after each, to the end of the line. */
static void recite(tn_module *net, const char *words) {
    int64_t letter = 0;
    int said = 0;
    tn_inference_mode
        TN_SCOPE {
            tn_tensor *state[2] = {NULL, NULL};
            while (letter != '\n' && said < LONGEST && tn_ok()) {
                if (*words) letter = *words++;
                putchar((int)letter);
                said++;
                tn_tensor *score = read_on(net, tn_from_i64(&letter, TN_DIMS(1, 1)), state);
                if (!*words) letter = tn_item_int(tn_argmax(score));
            }
        }
    putchar('\n');
}

int main(void) {
    double loss = 0;
    tn_manual_seed(1);
    tn_module *net = net_new();
    TN_SCOPE
        loss = learn(net, text_new());
    recite(net, "This is the cow");
    recite(net, "This is the man");
    tn_module_free(net);
    const bool failed = tn_error_print();
    tn_context_free(NULL);
    return failed || loss > 0.3;
}
