/* text.c - trains a network to spell a poem: it sees eight letters and predicts the next one.
 *
 * A table turns each letter into a vector. Two layers turn the vectors of eight letters into a
 * probability for each letter that may follow (Y. Bengio et al., A neural probabilistic language
 * model, 2003). To write, the program draws a letter, appends it, and asks again.
 *
 *     cc -O2 -I. examples/text.c -o text -lm -pthread && ./text */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <stdio.h>
#include <string.h>

/* L. Carroll, Jabberwocky, 1871. */
static const char poem[] = "'Twas brillig, and the slithy toves\n"
                           "Did gyre and gimble in the wabe;\n"
                           "All mimsy were the borogoves,\n"
                           "And the mome raths outgrabe.\n\n"
                           "\"Beware the Jabberwock, my son!\n"
                           "The jaws that bite, the claws that catch!\n"
                           "Beware the Jubjub bird, and shun\n"
                           "The frumious Bandersnatch!\"\n\n"
                           "He took his vorpal sword in hand:\n"
                           "Long time the manxome foe he sought -\n"
                           "So rested he by the Tumtum tree,\n"
                           "And stood awhile in thought.\n\n"
                           "And as in uffish thought he stood,\n"
                           "The Jabberwock, with eyes of flame,\n"
                           "Came whiffling through the tulgey wood,\n"
                           "And burbled as it came!\n\n"
                           "One, two! One, two! And through and through\n"
                           "The vorpal blade went snicker-snack!\n"
                           "He left it dead, and with its head\n"
                           "He went galumphing back.\n";

enum { SEEN = 8, LENGTH = sizeof poem - 1, PLACES = LENGTH - SEEN };
enum { LETTERS = 128, WIDTH = 16, HIDDEN = 96, BATCH = 64, STEPS = 1000 };

static tn_module *model_new(void) {
    return tn_sequential(tn_nn_embedding(LETTERS, WIDTH), tn_nn_flatten(),
                         tn_nn_linear(SEEN * WIDTH, HIDDEN), tn_nn_tanh(),
                         tn_nn_linear(HIDDEN, LETTERS));
}

/* seen (PLACES, SEEN) and next (PLACES) hold character codes: next[i] follows row i of seen. */
static void read_poem(tn_tensor **seen, tn_tensor **next) {
    static int64_t windows[PLACES][SEEN], after[PLACES];
    for (int i = 0; i < PLACES; i++) {
        for (int k = 0; k < SEEN; k++) windows[i][k] = poem[i + k];
        after[i] = poem[i + SEEN];
    }
    *seen = tn_from(windows, TN_DIMS(PLACES, SEEN), TN_I64);
    *next = tn_from(after, TN_DIMS(PLACES), TN_I64);
}

static double learn(tn_module *model, tn_tensor *seen, tn_tensor *next) {
    tn_optimizer *opt = tn_optim_adam(tn_parameters(model), .lr = 3e-3);
    double mean = 0; /* of the losses since the last printed line */
    for (int step = 1; step <= STEPS && tn_ok(); step++)
        TN_SCOPE {
            tn_tensor *places = tn_randint(PLACES, TN_DIMS(BATCH));
            tn_tensor *guess = tn_forward(model, tn_index_select(seen, 0, places));
            tn_tensor *loss = tn_cross_entropy(guess, tn_index_select(next, 0, places));
            tn_optimizer_zero_grad(opt);
            tn_backward(loss);
            tn_optimizer_step(opt);
            if (step % 250 == 1) mean = 0;
            mean += tn_item(loss) / 250;
            if (step % 250 == 0) printf("step %4d  loss %.3f\n", step, mean);
        }
    tn_optimizer_free(opt);
    return mean;
}

/* Draws a letter from the model's probabilities p: if each e is drawn from the exponential
 * distribution, p / e is largest at i with probability p_i. */
static int draw(tn_module *model, const char *seen) {
    int64_t window[SEEN], letter = '?';
    for (int k = 0; k < SEEN; k++) window[k] = seen[k];
    TN_SCOPE {
        tn_tensor *x = tn_from(window, TN_DIMS(1, SEEN), TN_I64);
        tn_tensor *chance = tn_softmax(tn_forward(model, x), 1);
        tn_tensor *e = tn_exponential_(tn_empty(TN_DIMS(1, LETTERS)));
        letter = tn_item_int(tn_argmax(tn_div(chance, e)));
    }
    return (int)letter;
}

static void write_poem(tn_module *model, int letters) {
    char text[SEEN + 1] = "'Twas br";
    bool mode = tn_set_grad_mode(false);
    printf("%s", text);
    for (int i = 0; i < letters && tn_ok(); i++) {
        char letter = (char)draw(model, text);
        memmove(text, text + 1, SEEN - 1);
        text[SEEN - 1] = letter;
        putchar(letter);
    }
    putchar('\n');
    tn_set_grad_mode(mode);
}

int main(void) {
    tn_manual_seed(1);
    tn_module *model = model_new();
    double loss = 0;
    TN_SCOPE {
        tn_tensor *seen, *next;
        read_poem(&seen, &next);
        loss = learn(model, seen, next);
        write_poem(model, 300);
    }
    tn_module_free(model);
    bool ok = tn_ok() && loss < 0.2;
    tn_error_print();
    tn_context_free(NULL);
    return ok ? 0 : 1;
}
