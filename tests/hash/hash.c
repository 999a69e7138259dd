/* hash.c - SHA-256 of what must have the same bits everywhere: random numbers, long reductions and
 * elementary functions, the weights of a small net after 100 steps and of the CNN after 5 steps at
 * batch 4.
 *
 *     hash THREADS [PART...]    0: as many as a context takes; no PART: all, and the hash of all
 *
 * $TN_ISA chooses the instruction set; "absent" when the CPU has it not. */
#include "tensor.h"
#include "tensor_nn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- SHA-256 (FIPS 180-4) --------------------------------------------------------------------- */

typedef struct sha {
    uint32_t h[8];
    uint64_t n;
    unsigned char block[64];
} sha;

/* The first 32 bits of the fractional parts of the n-th roots of primes, by integers: root^n =
 * prime. */
static uint32_t fraction_of_root(unsigned prime, int n) {
    uint64_t low = 0, high = (uint64_t)1
                             << 36; /* root * 2^32 < 2^36.8 for square roots of primes up to 19 */
    if (n == 3) high = (uint64_t)1 << 35;
    while (high - low > 1) {
        uint64_t mid = low + (high - low) / 2, part = mid;
        uint32_t r[6] = {1, 0, 0, 0, 0, 0}; /* mid^n, 32 bits a digit */
        int above = 0;
        for (int k = 0; k < n; k++) {
            uint64_t carry = 0;
            uint32_t to[6] = {0, 0, 0, 0, 0, 0};
            uint32_t digit[2];
            digit[0] = (uint32_t)part, digit[1] = (uint32_t)(part >> 32);
            for (int d = 0; d < 2; d++) {
                carry = 0;
                for (int i = 0; i + d < 6; i++) {
                    uint64_t sum = (uint64_t)r[i] * digit[d] + to[i + d] + carry;
                    to[i + d] = (uint32_t)sum;
                    carry = sum >> 32;
                }
            }
            memcpy(r, to, sizeof r);
        }
        above = r[n + 1] != 0 || r[n] >= prime; /* mid^n >= prime * 2^(32 n) */
        if (above)
            high = mid;
        else
            low = mid;
    }
    return (uint32_t)low;
}

static const uint32_t *sha_constants(uint32_t *first) {
    static uint32_t k[64], h[8];
    int found = 0;
    for (unsigned p = 2; !k[63]; p++) {
        int prime = 1;
        for (unsigned d = 2; d * d <= p; d++) prime = prime && p % d;
        if (!prime) continue;
        if (found < 8) h[found] = fraction_of_root(p, 2);
        k[found++] = fraction_of_root(p, 3);
    }
    if (first) memcpy(first, h, sizeof h);
    return k;
}

static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void sha_block(sha *s) {
    const uint32_t *k = sha_constants(NULL);
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)s->block[4 * i] << 24 | (uint32_t)s->block[4 * i + 1] << 16 |
               (uint32_t)s->block[4 * i + 2] << 8 | s->block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(v, s->h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t a = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) +
                     ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
        uint32_t b = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) +
                     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[0] = a + b;
        v[4] += a;
    }
    for (int i = 0; i < 8; i++) s->h[i] += v[i];
}

static void sha_begin(sha *s) {
    sha_constants(s->h);
    s->n = 0;
}
static void sha_bytes(sha *s, const void *data, size_t n) {
    const unsigned char *at = (const unsigned char *)data;
    while (n--) {
        s->block[s->n++ % 64] = *at++;
        if (s->n % 64 == 0) sha_block(s);
    }
}
static void sha_end(sha *s, char text[65]) {
    uint64_t bits = 8 * s->n;
    unsigned char mark = 0x80, zero = 0, length[8];
    sha_bytes(s, &mark, 1);
    while (s->n % 64 != 56) sha_bytes(s, &zero, 1);
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha_bytes(s, length, 8);
    for (int i = 0; i < 8; i++) snprintf(text + 8 * i, 9, "%08x", (unsigned)s->h[i]);
}

/* --- what is hashed --------------------------------------------------------------------------- */

/* Elements row-major, little-endian; a NaN counts as one value. */
static void sha_tensor(sha *s, tn_tensor *t) {
    int64_t n = tn_numel(t);
    int bytes = tn_dtype_bytes(tn_dtype_of(t));
    tn_tensor *flat = tnp_contiguous(t);
    const unsigned char *at = (const unsigned char *)tn_data(flat);
    const uint16_t one = 1;
    int little = *(const unsigned char *)&one;
    for (int64_t i = 0; at && i < n; i++)
        for (int k = 0; k < bytes; k++)
            sha_bytes(s, at + i * bytes + (little ? k : bytes - 1 - k), 1);
    if (!at) sha_bytes(s, "failed", 6);
}

static void random_numbers(sha *s) {
    TN_SCOPE {
        tn_manual_seed(1);
        sha_tensor(s, tnp_rand(TN_DIMS(500000), NULL, TN_F32, TN_CPU));
        sha_tensor(s, tnp_randn(TN_DIMS(400001), NULL, TN_F32, TN_CPU));
        sha_tensor(s, tnp_randn(TN_DIMS(100000), NULL, TN_F64, TN_CPU));
        sha_tensor(s, tnp_randn(TN_DIMS(7), NULL, TN_F32, TN_CPU));
        sha_tensor(s, tnp_randint(1000, TN_DIMS(1000), NULL, TN_I64, TN_CPU));
        sha_tensor(s, tnp_randperm(1000, NULL, TN_I64, TN_CPU));
        sha_tensor(s, tnp_bernoulli(tnp_rand(TN_DIMS(1000), NULL, TN_F32, TN_CPU), NULL));
        tn_tensor *x = tnp_zeros(TN_DIMS(1000), TN_F64, TN_CPU);
        sha_tensor(s, tnp_normal_(x, 1, 2, NULL));
    }
}

static void operators_of(sha *s, tn_dtype dtype) {
    tn_tensor *x = tnp_randn(TN_DIMS(317, 1003), NULL, dtype, TN_CPU),
              *w = tnp_randn(TN_DIMS(1003, 129), NULL, dtype, TN_CPU);
    tn_tensor *p = tnp_add_scalar(tnp_abs(x), tn_float(0.25), 1);
    sha_tensor(s, tnp_matmul(x, w));
    sha_tensor(s, tnp_sum(x, TN_NO_DIMS, false, TN_NO_DTYPE));
    sha_tensor(s, tnp_sum(x, TN_DIMS(0), false, TN_NO_DTYPE));
    sha_tensor(s, tnp_sum(x, TN_DIMS(1), false, TN_NO_DTYPE));
    sha_tensor(s, tnp_var(x, TN_DIMS(1), tn_none(), false));
    sha_tensor(s, tnp_softmax(x, 1, TN_NO_DTYPE));
    sha_tensor(s, tnp_log_softmax(x, 0, TN_NO_DTYPE));
    sha_tensor(s, tnp_logsumexp(x, TN_DIMS(1), false));
    sha_tensor(s, tnp_cumsum(x, 1, TN_NO_DTYPE));
    sha_tensor(s, tnp_cumprod(x, 1, TN_NO_DTYPE));
    sha_tensor(s, tnp_linear_recurrence(x, tnp_sin(x), 0, true));
    sha_tensor(s, tnp_exp(x));
    sha_tensor(s, tnp_log(p));
    sha_tensor(s, tnp_sin(x));
    sha_tensor(s, tnp_tanh(x));
    sha_tensor(s, tnp_sigmoid(x));
    sha_tensor(s, tnp_erf(x));
    sha_tensor(s, tnp_sqrt(p));
    sha_tensor(s, tnp_pow(p, x));
    sha_tensor(s, tnp_div(x, p));
    sha_tensor(s, tnp_mul(tnp_transpose(x, 0, 1), tnp_transpose(p, 0, 1)));
}
static void operators(sha *s) {
    TN_SCOPE {
        tn_manual_seed(2);
        operators_of(s, TN_F32);
        operators_of(s, TN_F64);
    }
}

static void sha_module(sha *s, tn_module *m) {
    tn_named_list l = tn_module_state_dict(m);
    for (int64_t i = 0; i < l.n; i++) sha_tensor(s, l.at[i].tensor);
    if (!l.n) sha_bytes(s, "empty", 5);
}

static void train(tn_module *net, tn_optimizer *o, int steps, tn_ints input, int64_t classes) {
    for (int i = 0; i < steps; i++)
        TN_SCOPE {
            tn_tensor *x = tnp_randn(input, NULL, TN_F32, TN_CPU);
            tn_tensor *y = tnp_randint(classes, tn_ints_of(input.at, 1), NULL, TN_I64, TN_CPU);
            tn_optimizer_zero_grad(o);
            tn_backward(tn_cross_entropy(tn_forward(net, x), y));
            tn_optimizer_step(o);
        }
}

static void small_net(sha *s) {
    TN_SCOPE {
        tn_manual_seed(3);
        tn_module *net = tn_sequential(tn_nn_linear(20, 64), tn_nn_tanh(),
                                       tn_nn_layer_norm(TN_DIMS(64)), tn_nn_linear(64, 32),
                                       tn_nn_gelu(), tn_nn_dropout(.p = 0.2), tn_nn_linear(32, 5));
        tn_optimizer *o = tn_optim_adamw(tn_parameters(net), .lr = 0.01);
        train(net, o, 100, TN_DIMS(32, 20), 5);
        sha_module(s, net);
        tn_optimizer_free(o);
        tn_module_free(net);
    }
}

static void pictures(sha *s) {
    TN_SCOPE {
        tn_manual_seed(4);
        tn_module *net = tn_sequential(
            tn_nn_conv2d(1, 32, TN_DIMS(3), .padding = TN_DIMS(1)), tn_nn_relu(),
            tn_nn_max_pool2d(TN_DIMS(2)), tn_nn_conv2d(32, 64, TN_DIMS(3), .padding = TN_DIMS(1)),
            tn_nn_relu(), tn_nn_max_pool2d(TN_DIMS(2)), tn_nn_flatten(),
            tn_nn_linear(64 * 7 * 7, 128), tn_nn_relu(), tn_nn_linear(128, 10));
        tn_optimizer *o = tn_optim_sgd(tn_parameters(net), .lr = 0.05, .momentum = 0.9);
        train(net, o, 5, TN_DIMS(4, 1, 28, 28), 10);
        sha_module(s, net);
        tn_optimizer_free(o);
        tn_module_free(net);
    }
}

static int sha_is_right(void) { /* the examples of FIPS 180-4 and of the empty text */
    static const char *const text[] = {"", "abc",
                                       "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"};
    static const char *const want[] = {
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"};
    for (int i = 0; i < 3; i++) {
        sha s;
        char got[65];
        sha_begin(&s);
        sha_bytes(&s, text[i], strlen(text[i]));
        sha_end(&s, got);
        if (strcmp(got, want[i])) return printf("sha-256 of \"%s\" is %s here\n", text[i], got), 0;
    }
    return 1;
}

static int wanted(const char *part, int argc, char **argv) {
    int found = argc < 3;
    for (int i = 2; i < argc; i++) found = found || strcmp(argv[i], part) == 0;
    return found;
}

int main(int argc, char **argv) {
    static void (*const parts[])(sha *) = {random_numbers, operators, small_net, pictures};
    static const char *const names[] = {"random", "operators", "net", "cnn"};
    const char *isa = getenv("TN_ISA");
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    sha all;
    char text[65];
    if (!sha_is_right()) return 1;
    if (isa && (!tn_isa() || strcmp(isa, tn_isa()))) return printf("absent\n"), 0;
    if (threads && (!tn_set_threads(threads) || tn_threads() != threads))
        return printf("no %d threads\n", threads), 1;
    sha_begin(&all);
    for (int i = 0; i < 4; i++) {
        sha one;
        if (!wanted(names[i], argc, argv)) continue;
        sha_begin(&one);
        parts[i](&one);
        sha_end(&one, text);
        sha_bytes(&all, text, 64);
        printf("%s %s\n", names[i], text);
    }
    sha_end(&all, text);
    if (tn_error_print()) return 1;
    tn_context_free(NULL);
    if (argc < 3) printf("all %s\n", text);
    return 0;
}
