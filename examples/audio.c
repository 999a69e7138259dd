/* audio.c - a small LSTM learns the sound of a guitar amplifier, then plays through it in blocks of
 * 64 samples, as an audio callback does.
 *
 * The amplifier is a function with memory: loud notes make its supply sag, so the same sample comes
 * out differently after a loud note. The network sees only sound that went in and came out; it
 * keeps what it must remember in its state, which the program carries from block to block (A.
 * Wright, E.-P. Damskaegg, V. Valimaki, Real-time black-box modelling with recurrent neural
 * networks, 2019). The calls of one block are recorded once and replayed without an allocation.
 *
 *     cc -O2 -I. examples/audio.c -o audio -lm -pthread && ./audio
 *
 * writes dry.wav, amp.wav and learned.wav into the working folder, or into the one it is given. */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RATE = 44100, BLOCK = 64, HIDDEN = 16 };
enum { PARTS = 32, PART = 5120, SEGMENT = 64, WARM_UP = 512, EPOCHS = 20 };
enum { TRAIN = PARTS * PART, TEST = 2048 * BLOCK }; /* samples */

/* --- sound ------------------------------------------------------------------------------------ */

/* Strings plucked one after the other: noise in a loop of one period, averaged at each turn (K.
 * Karplus, A. Strong, 1983). The seed chooses notes and loudness. */
static void pluck(float *to, int count, uint32_t seed) {
    static const double notes[] = {82.4, 110, 146.8, 196, 246.9, 329.6};
    float string[RATE / 60];
    int period = 1, at = 0;
    for (int i = 0; i < count; i++) {
        if (i % (RATE / 4) == 0) { /* a new note */
            seed = seed * 1664525u + 1013904223u;
            period = (int)(RATE / notes[(seed >> 24) % 6]);
            float loud = 0.2f + 0.8f * (float)(seed >> 16 & 255) / 255;
            for (int k = 0; k < period; k++) {
                seed = seed * 1664525u + 1013904223u;
                string[k] = loud * ((float)(seed >> 8) / (1 << 23) - 1);
            }
            at = 0;
        }
        int next = (at + 1) % period;
        to[i] = string[at];
        string[at] = 0.498f * (string[at] + string[next]);
        at = next;
    }
}

/* The amplifier to be learned. */
static void amplify(float *to, const float *from, int count) {
    double loudness = 0, high = 0, low = 0;
    for (int i = 0; i < count; i++) {
        loudness += 0.005 * (fabs((double)from[i]) - loudness);
        double v = tanh(8 * from[i] / (1 + 6 * loudness) + 0.4); /* bends one half more */
        low += 0.4 * (v - low);                                  /* the loudspeaker: no treble, */
        high += 0.005 * (low - high);                            /* and no constant part */
        to[i] = (float)(0.8 * (low - high));
    }
}

static void put(unsigned char *to, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++) to[i] = (unsigned char)(value >> 8 * i);
}

/* A WAV file: mono, 16 bits. */
static bool wav_write(const char *folder, const char *name, const float *sound, int count) {
    unsigned char head[44] = "RIFF....WAVEfmt ....................data";
    char path[1000];
    put(head + 4, 36 + 2 * (uint32_t)count, 4);
    put(head + 16, 16, 4);
    put(head + 20, 1, 2); /* PCM */
    put(head + 22, 1, 2); /* channels */
    put(head + 24, RATE, 4);
    put(head + 28, 2 * RATE, 4);
    put(head + 32, 2, 2);
    put(head + 34, 16, 2);
    put(head + 40, 2 * (uint32_t)count, 4);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(head, 1, sizeof head, f) == sizeof head;
    for (int i = 0; ok && i < count; i++) {
        unsigned char two[2];
        float v = sound[i] > 1 ? 1 : sound[i] < -1 ? -1 : sound[i];
        put(two, (uint32_t)(int32_t)(32767 * v), 2);
        ok = fwrite(two, 1, 2, f) == 2;
    }
    if (f && fclose(f) != 0) ok = false;
    return ok || tn_error_set(TN_FILE, __FILE__, __LINE__, "%s: %s", path, strerror(errno));
}

/* --- the network ------------------------------------------------------------------------------ */

typedef struct amp {
    tn_module *net, *lstm, *mix; /* net owns the other two */
    tn_tensor *h, *c;            /* the state for N sounds at once, (1, N, HIDDEN) */
} amp;

static void amp_new(amp *a) {
    a->net = tn_nn_module_list(TN_MODULES(tn_nn_lstm(1, HIDDEN), tn_nn_linear(HIDDEN, 1)));
    a->lstm = tn_module_child(a->net, "0");
    a->mix = tn_module_child(a->net, "1");
    a->h = a->c = NULL;
}
/* Silence before N sounds. */
static void amp_silence(amp *a, int64_t n) {
    tn_free(a->h);
    tn_free(a->c);
    a->h = tn_hold(tn_zeros(TN_DIMS(1, n, HIDDEN)));
    a->c = tn_hold(tn_zeros(TN_DIMS(1, n, HIDDEN)));
}
static void amp_free(amp *a) {
    tn_free(a->h);
    tn_free(a->c);
    tn_module_free(a->net);
}

/* What comes out for x (T, N, 1), in the same shape: x and what the network adds to it. */
static tn_tensor *amp_run(const amp *a, tn_tensor *x, tn_output_h_n_c_n *after) {
    *after = tn_nn_lstm_forward(a->lstm, x, .h = a->h, .c = a->c);
    return tn_add(tn_forward(a->mix, after->output), x);
}
/* The state after one run becomes that before the next. Numbers are copied, so no gradient flows
 * from one run into another. */
static void amp_advance(amp *a, const tn_output_h_n_c_n *after) {
    tn_no_grad {
        tn_copy_(a->h, after->h_n);
        tn_copy_(a->c, after->c_n);
    }
}

/* --- learning --------------------------------------------------------------------------------- */

/* A sound cut into PARTS, which are learned side by side: (PART, PARTS, 1). */
static tn_tensor *parts(const float *sound) {
    tn_tensor *t = tn_from_f32(sound, TN_DIMS(PARTS, PART));
    return tn_unsqueeze(tn_contiguous(tn_transpose(t, 0, 1)), 2);
}

static bool learn(amp *a, const float *dry, const float *wet) {
    tn_optimizer *opt = tn_optim_adam(tn_parameters(a->net), .lr = 2e-2);
    tn_schedule *slower = tn_optim_cosine_lr(opt, EPOCHS, 2e-4);
    tn_tensor *x = NULL, *target = NULL;
    TN_SCOPE {
        x = tn_hold(parts(dry));
        target = tn_hold(parts(wet));
    }
    for (int epoch = 1; epoch <= EPOCHS && tn_ok(); epoch++) {
        double error = 0, signal = 0;
        amp_silence(a, PARTS);
        for (int at = 0; at < PART && tn_ok(); at += SEGMENT) /* a step of learning for each */
            TN_SCOPE {
                tn_output_h_n_c_n after;
                tn_tensor *y = amp_run(a, tn_slice(x, .start = at, .end = at + SEGMENT), &after);
                tn_tensor *t = tn_slice(target, .start = at, .end = at + SEGMENT);
                if (at >= WARM_UP) { /* earlier, the state does not know what was played before */
                    tn_tensor *loss = tn_mse_loss(y, t);
                    tn_optimizer_zero_grad(opt);
                    tn_backward(loss);
                    tn_nn_clip_grad_norm_(tn_parameters(a->net), 1);
                    tn_optimizer_step(opt);
                    error += tn_item(loss);
                    signal += tn_item(tn_mean(tn_mul(t, t)));
                }
                amp_advance(a, &after);
            }
        tn_schedule_step(slower);
        if (epoch == 1 || epoch % 5 == 0)
            printf("epoch %2d  error-to-signal ratio %6.3f %%\n", epoch, 100 * error / signal);
    }
    tn_free(target);
    tn_free(x);
    tn_schedule_free(slower);
    tn_optimizer_free(opt);
    return tn_ok();
}

/* --- playing ---------------------------------------------------------------------------------- */

typedef struct player {
    float in[BLOCK], out[BLOCK]; /* the memory of input and output */
    tn_tensor *input, *output;
    tn_recording *block;
} player;

/* Everything that takes memory is done here, before the sound begins. Shapes never change, so the
 * calls of one block are recorded, and a replay skips what a call does besides its loops. */
static bool player_new(player *p, amp *a) {
    memset(p, 0, sizeof *p);
    amp_silence(a, 1);
    p->input = tn_hold(tn_wrap(p->in, TN_DIMS(BLOCK, 1, 1), TN_F32, NULL));
    p->output = tn_hold(tn_wrap(p->out, TN_DIMS(BLOCK, 1, 1), TN_F32, NULL));
    tn_record_begin();
    TN_SCOPE {
        tn_output_h_n_c_n after;
        tn_copy_(p->output, amp_run(a, p->input, &after));
        amp_advance(a, &after);
    }
    p->block = tn_record_end();
    tn_replay(p->block); /* warms up */
    tn_zero_(a->h);      /* recording and warming up have moved the state */
    tn_zero_(a->c);
    return tn_ok();
}
/* The audio callback: BLOCK samples from the sound card and BLOCK to it. */
static bool player_callback(player *p, const float *from, float *to) {
    memcpy(p->in, from, sizeof p->in);
    tn_touch(p->input); /* its memory was written directly */
    bool ok = tn_replay(p->block);
    memcpy(to, p->out, sizeof p->out);
    return ok;
}
static void player_free(player *p) {
    tn_recording_free(p->block);
    tn_free(p->input);
    tn_free(p->output);
}

/* Plays a sound through the network and prints how that went. */
static bool play(amp *a, const float *from, float *to) {
    player p;
    bool ok = player_new(&p, a);
    const long long before = tn_memory().allocations;
    const double start = tn_now();
    tn_expect_no_alloc { /* in here an allocation is an error */
        for (int i = 0; i < TEST && ok; i += BLOCK) ok = player_callback(&p, from + i, to + i);
    }
    const double seconds = tn_now() - start;
    printf("played %d blocks of %d samples, allocations: %lld\n", TEST / BLOCK, BLOCK,
           (long long)tn_memory().allocations - before);
    printf("%.1f times as fast as real time\n", TEST / (double)RATE / seconds);
    player_free(&p);
    return ok;
}

/* The energy of the error as a part of the sound's. */
static double error_to_signal(const float *y, const float *target, int count) {
    double error = 0, signal = 0;
    for (int i = 0; i < count; i++) {
        error += (y[i] - target[i]) * (double)(y[i] - target[i]);
        signal += target[i] * (double)target[i];
    }
    return error / signal;
}

static float dry[TRAIN], wet[TRAIN];                             /* to learn from */
static float test_dry[TEST], test_wet[TEST], test_learned[TEST]; /* notes never heard before */

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : ".";
    tn_context_options options = {.threads = -1}; /* an audio thread waits for no other thread */
    tn_context *context = tn_context_new(&options);
    tn_context_use(context);
    tn_manual_seed(1);
    pluck(dry, TRAIN, 1);
    amplify(wet, dry, TRAIN);
    pluck(test_dry, TEST, 2);
    amplify(test_wet, test_dry, TEST);

    amp a;
    amp_new(&a);
    bool ok = wav_write(folder, "dry.wav", test_dry, TEST) &&
              wav_write(folder, "amp.wav", test_wet, TEST) && learn(&a, dry, wet);
    tn_inference_mode {
        ok = ok && play(&a, test_dry, test_learned);
    }
    ok = ok && wav_write(folder, "learned.wav", test_learned, TEST);
    if (ok) {
        printf("on notes never heard before: error-to-signal ratio %.3f %%\n",
               100 * error_to_signal(test_learned, test_wet, TEST));
        printf("wrote dry.wav, amp.wav and learned.wav into %s\n", folder);
    }
    amp_free(&a);
    tn_error_print();
    tn_context_use(NULL);
    tn_context_free(context);
    return ok ? 0 : 1;
}
