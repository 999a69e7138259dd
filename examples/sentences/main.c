/* main.c - says how alike sentences are, by a BERT such as all-MiniLM-L6-v2.
 *
 * Pieces of words become vectors, which attend to each other in every layer (J. Devlin et al.,
 * BERT, 2019); a sentence is the mean of its vectors, of length 1 (N. Reimers and I. Gurevych,
 * Sentence-BERT, 2019).
 *
 *     sh examples/weights.sh minilm
 *     cc -O2 -I. examples/sentences/main.c -o sentences -lm -pthread
 *     ./sentences build/weights/minilm "A cat purrs." "A kitten is happy." "Rates rose again."
 *
 * The folder has config.json, vocab.txt and model.safetensors. A sentence is cut where the model
 * has no more places; the Python package of this model cuts it at 256 pieces. With --save FILE as
 * the first two arguments the vectors are written to a safetensors file: "sentences", with a row
 * for each. */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"
#include "wordpiece.h"

#include <stdio.h>

enum { MOST_PIECES = 512, MOST_SENTENCES = 26 };

typedef struct bert {
    tn_named_list weights;
    vocabulary words;
    char *text; /* of the vocabulary */
    int heads, layers, places;
    double eps;
} bert;

/* --- the network ------------------------------------------------------------------------------ */

/* A weight of a layer, or of none (-1): the name's part and its end, "weight" or "bias". */
static tn_tensor *weight(const bert *b, int layer, const char *part, const char *end) {
    char name[200], before[40] = "";
    if (layer >= 0) snprintf(before, sizeof before, "encoder.layer.%d.", layer);
    snprintf(name, sizeof name, "%s%s.%s", before, part, end);
    tn_tensor *t = tn_named_find(b->weights, name);
    if (!t) tn_error_set(TN_FORMAT, __FILE__, __LINE__, "the model has no %s", name);
    return t;
}
static tn_tensor *dense(const bert *b, int layer, const char *part, tn_tensor *x) {
    return tn_linear(x, weight(b, layer, part, "weight"), .bias = weight(b, layer, part, "bias"));
}
static tn_tensor *norm(const bert *b, int layer, const char *part, tn_tensor *x) {
    return tn_layer_norm(x, TN_DIMS(tn_size(x, -1)), .weight = weight(b, layer, part, "weight"),
                         .bias = weight(b, layer, part, "bias"), .eps = b->eps);
}
/* (n, WIDTH) as (heads, n, WIDTH / heads). */
static tn_tensor *heads(const bert *b, tn_tensor *x) {
    return tn_transpose(tn_unflatten(x, 1, TN_DIMS(b->heads, -1)), 0, 1);
}
static tn_tensor *layer(const bert *b, int i, tn_tensor *x) {
    tn_tensor *query = heads(b, dense(b, i, "attention.self.query", x));
    tn_tensor *key = heads(b, dense(b, i, "attention.self.key", x));
    tn_tensor *value = heads(b, dense(b, i, "attention.self.value", x));
    tn_tensor *y = tn_scaled_dot_product_attention(query, key, value);
    y = dense(b, i, "attention.output.dense", tn_flatten(tn_transpose(y, 0, 1), .start_dim = 1));
    x = norm(b, i, "attention.output.LayerNorm", tn_add(x, y));
    y = dense(b, i, "output.dense", tn_gelu(dense(b, i, "intermediate.dense", x)));
    return norm(b, i, "output.LayerNorm", tn_add(x, y));
}
/* The vector of a sentence, (WIDTH), of length 1. */
static tn_tensor *encode_sentence(const bert *b, const char *sentence) {
    int64_t ids[MOST_PIECES];
    const int n = tokenize(&b->words, sentence, ids, b->places);
    if (!n) tn_error_set(TN_MEMORY, __FILE__, __LINE__, "no memory for the words of a sentence");
    tn_tensor *x = tn_embedding(weight(b, -1, "embeddings.word_embeddings", "weight"),
                                tn_from_i64(ids, TN_DIMS(n)));
    tn_tensor *place = weight(b, -1, "embeddings.position_embeddings", "weight");
    tn_tensor *type = weight(b, -1, "embeddings.token_type_embeddings", "weight");
    x = tn_add(tn_add(x, tn_narrow(place, 0, 0, n)), tn_select(type, 0, 0));
    x = norm(b, -1, "embeddings.LayerNorm", x);
    for (int i = 0; i < b->layers && tn_ok(); i++) x = layer(b, i, x);
    x = tn_mean(x, .dim = TN_DIMS(0));
    return tn_div(x, tn_linalg_vector_norm(x));
}

/* --- its files -------------------------------------------------------------------------------- */

/* A file of the folder as text; NULL with an error. The caller frees it. */
static char *read_text(const char *folder, const char *name) {
    char path[1000], *text = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    TN_SCOPE {
        tn_tensor *bytes = tn_load_bytes(path);
        const size_t n = bytes ? (size_t)tn_numel(bytes) : 0;
        if (bytes) text = calloc(1, n + 1);
        if (text) memcpy(text, tn_data(bytes), n);
    }
    return text;
}
/* A number of config.json. */
static double config(const char *json, const char *name) {
    char key[100];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = json ? strstr(json, key) : NULL;
    if (at) return strtod(at + strlen(key), NULL);
    tn_error_set(TN_FORMAT, "config.json", 0, "no number %s", name);
    return 0;
}
static bool bert_load(bert *b, const char *folder) {
    static const char *const special[] = {"[UNK]", "[CLS]", "[SEP]", NULL};
    char path[1000], *json = read_text(folder, "config.json");
    b->heads = (int)config(json, "num_attention_heads");
    b->layers = (int)config(json, "num_hidden_layers");
    b->places = (int)config(json, "max_position_embeddings");
    b->eps = config(json, "layer_norm_eps");
    free(json);
    if (tn_ok() && (b->places < 2 || b->places > MOST_PIECES))
        tn_error_set(TN_FORMAT, folder, 0, "expected 2 to %d places", MOST_PIECES);
    b->text = read_text(folder, "vocab.txt");
    if (b->text && !vocabulary_new(&b->words, b->text))
        tn_error_set(TN_MEMORY, folder, 0, "the vocabulary needs more memory");
    for (const char *const *need = special; *need; need++)
        if (tn_ok() && number_of(&b->words, *need) < 0)
            tn_error_set(TN_FORMAT, folder, 0, "the vocabulary has no %s", *need);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    if (tn_ok()) b->weights = tn_safetensors_load(path);
    return tn_ok();
}
static void bert_free(bert *b) {
    tn_named_free(b->weights);
    free(b->words.at);
    free(b->text);
}

/* --- the table -------------------------------------------------------------------------------- */

static void compare(const bert *b, char **sentence, int n, const char *file) {
    tn_tensor *vector[MOST_SENTENCES];
    for (int i = 0; i < n && tn_ok(); i++) vector[i] = encode_sentence(b, sentence[i]);
    if (!tn_ok()) return;
    tn_tensor *all = tn_to_dtype(tn_stack(tn_tensors_of(vector, n)), TN_F32);
    tn_tensor *alike = tn_matmul(all, tn_t(all));
    const tn_named named = {"sentences", all};
    const float *at = (const float *)tn_data(alike);
    if (!at || (file && !tn_safetensors_save(file, &named, 1))) return;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k <= i; k++) printf("%6.2f", at[i * n + k]);
        printf("%*c  %s\n", 6 * (n - 1 - i) + 3, 'a' + i, sentence[i]);
    }
    for (int i = 0; i < n; i++) printf("%6c", 'a' + i);
    putchar('\n');
}

int main(int argc, char **argv) {
    bert b = {0};
    const char *file = argc > 4 && strcmp(argv[1], "--save") == 0 ? argv[2] : NULL;
    char **arg = argv + (file ? 3 : 1);
    const int n = argc - 1 - (int)(arg - argv);
    if (n < 1 || n > MOST_SENTENCES) {
        fprintf(stderr, "usage: sentences [--save FILE] FOLDER SENTENCE...\n");
        return 2;
    }
    tn_inference_mode
        TN_SCOPE
            if (bert_load(&b, arg[0])) compare(&b, arg + 1, n, file);
    bert_free(&b);
    const bool failed = tn_error_print();
    tn_context_free(NULL);
    return failed;
}
