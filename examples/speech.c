/* speech.c - finds speech in a sound, by the weights of Silero VAD.
 *
 * 31 times a second the network is given the next 32 ms: the strength of each frequency
 * goes through four convolutions, an LSTM keeps what was heard before, and the answer is the chance
 * that somebody speaks.
 *
 *     sh examples/weights.sh silero
 *     cc -O2 -I. examples/speech.c -o speech -lm -pthread
 *     ./speech build/weights/silero_vad_16k.safetensors             listens to vowels that it makes
 *     ./speech build/weights/silero_vad_16k.safetensors sound.wav   mono, 16 bits, 16,000 a second
 *
 * With --save FILE as the first two arguments it writes a safetensors file: "sound", and "speech",
 * a chance for each window. */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RATE = 16000, WINDOW = 512, BEFORE = 64, BINS = 129, HIDDEN = 128 };
static const double PI = 3.14159265358979323846;

/* --- the network: (1, BEFORE + WINDOW) -> the chance of speech, (1, 1, 1) --------------------- */

typedef struct vad {
    tn_module base;
    tn_module *stft_conv, *conv1, *conv2, *conv3, *conv4, *lstm_cell, *final_conv;
    tn_tensor *h, *c; /* the LSTM's state, (1, HIDDEN): not in the file */
} vad;

static bool vad_forward(tn_mframe *f) {
    vad *s = (vad *)f->m;
    /* Waves of BINS frequencies, in 4 places: first the parts that are cosines, then the sines. */
    tn_tensor *x = tn_pad(tn_input(f, 0), TN_DIMS(0, BEFORE), .mode = "reflect");
    x = tn_square(tn_forward(s->stft_conv, tn_unsqueeze(x, 1)));
    x = tn_sqrt(tn_add(tn_narrow(x, 1, 0, BINS), tn_narrow(x, 1, BINS, BINS)));
    x = tn_relu(tn_forward(s->conv2, tn_relu(tn_forward(s->conv1, x))));
    x = tn_relu(tn_forward(s->conv4, tn_relu(tn_forward(s->conv3, x))));
    x = tn_squeeze_dim(x, -1);
    tn_h_n_c_n next = tn_nn_lstm_cell_forward(s->lstm_cell, x, .h = s->h, .c = s->c);
    tn_copy_(s->h, next.h_n);
    tn_copy_(s->c, next.c_n);
    x = tn_unsqueeze(tn_relu(next.h_n), -1);
    return (f->out[0] = tn_sigmoid(tn_forward(s->final_conv, x))) != NULL;
}
static const tn_mrow vad_row = {.name = "SileroVAD", .size = sizeof(vad), .forward = vad_forward};

static tn_module *conv(int in, int out, int stride) {
    return tn_nn_conv1d(in, out, TN_DIMS(3), .stride = TN_DIMS(stride), .padding = TN_DIMS(1));
}
/* The parts have the names of the file. */
static tn_module *vad_new(void) {
    vad *s = tn_module_new(&vad_row);
    TN_ADD_CHILD(s, stft_conv,
                 tn_nn_conv1d(1, 2 * BINS, TN_DIMS(256), .stride = TN_DIMS(128), .bias = false));
    TN_ADD_CHILD(s, conv1, conv(BINS, 128, 1));
    TN_ADD_CHILD(s, conv2, conv(128, 64, 2));
    TN_ADD_CHILD(s, conv3, conv(64, 64, 2));
    TN_ADD_CHILD(s, conv4, conv(64, HIDDEN, 1));
    TN_ADD_CHILD(s, lstm_cell, tn_nn_lstm_cell(HIDDEN, HIDDEN));
    TN_ADD_CHILD(s, final_conv, tn_nn_conv1d(HIDDEN, 1, TN_DIMS(1)));
    TN_ADD_TRANSIENT(s, h, TN_F32, TN_DIMS(1, HIDDEN));
    TN_ADD_TRANSIENT(s, c, TN_F32, TN_DIMS(1, HIDDEN));
    return tn_module_finish((tn_module *)s);
}

/* --- sounds ----------------------------------------------------------------------------------- */

static unsigned number_at(const unsigned char *at, int bytes) {
    unsigned n = 0;
    while (bytes--) n = n << 8 | at[bytes];
    return n;
}
/* A WAV file's samples, -1..1; NULL with an error. */
static tn_tensor *wav_read(const char *path) {
    tn_tensor *file = tn_load_bytes(path);
    const int64_t n = file ? tn_numel(file) : 0;
    const unsigned char *at = n > 44 ? tn_data(file) : NULL;
    bool fits = false;
    if (at && (memcmp(at, "RIFF", 4) || memcmp(at + 8, "WAVE", 4))) at = NULL;
    for (int64_t i = 12; at && i + 8 <= n;) { /* parts: a name, a length, bytes of even number */
        const int64_t most = n - i - 8, length = number_at(at + i + 4, 4), has = length & ~1LL;
        if (!memcmp(at + i, "fmt ", 4) && most >= 16)
            fits = number_at(at + i + 8, 4) == 0x10001 && number_at(at + i + 12, 4) == RATE &&
                   number_at(at + i + 22, 2) == 16; /* PCM of one channel */
        if (!memcmp(at + i, "data", 4) && fits) {
            tn_tensor *x = tn_narrow(file, 0, i + 8, has < most ? has : most & ~1LL);
            x = tn_view_dtype(tn_contiguous(x), TN_I16);
            return tn_div_scalar(tn_to_dtype(x, TN_F32), 32768);
        }
        i += 8 + length + (length & 1);
    }
    if (tn_ok()) tn_error_set(TN_FORMAT, path, 0, "no WAV file: mono, 16 bits, %d a second", RATE);
    return NULL;
}

/* Four vowels after another from 0.75 s to 2.25 s of three seconds: a pulse for each swing of the
 * vocal cords, and three resonances of the mouth for each vowel (G. Fant, Acoustic theory of speech
 * production, 1960). */
static tn_tensor *vowels(void) {
    static const double at[4][3] = {
        {800, 1200, 2500}, {300, 2300, 3000}, {350, 800, 2400}, {600, 1800, 2600}};
    static float sound[3 * RATE];
    double now[3] = {0}, last[3] = {0}, swing = 0;
    for (int i = RATE * 3 / 4; i < RATE * 9 / 4; i++) {
        const double t = (double)i / RATE - 0.75, part = fmod(t, 0.2) / 0.2;
        double pulse = 0;
        swing += (130 - 15 * t + 10 * sin(6 * t)) / RATE;
        if (swing >= 1) pulse = sqrt(sin(PI * fmin(part * 1.15, 1)));
        if (swing >= 1) swing -= 1;
        for (int k = 0; k < 3; k++) {
            const double r = exp(-PI * (80 + 40 * k) / RATE);
            const double turn = 2 * r * cos(2 * PI * at[(int)(t / 0.2) % 4][k] / RATE);
            const double next = pulse + turn * now[k] - r * r * last[k];
            last[k] = now[k];
            now[k] = next;
            sound[i] += (float)(ldexp(next - last[k], -k) / 20);
        }
    }
    return tn_from_f32(sound, TN_DIMS(3 * RATE));
}

/* --- what it hears ---------------------------------------------------------------------------- */

/* A chance for each window. */
static tn_tensor *listen(tn_module *net, tn_tensor *sound) {
    const int64_t n = (tn_numel(sound) + WINDOW - 1) / WINDOW;
    sound = tn_pad(sound, TN_DIMS(BEFORE, n * WINDOW - tn_numel(sound)));
    tn_tensor *speech = tn_zeros(TN_DIMS(n));
    for (int64_t i = 0; i < n && tn_ok(); i++)
        TN_SCOPE {
            tn_tensor *window = tn_narrow(sound, 0, i * WINDOW, BEFORE + WINDOW);
            tn_copy_(tn_narrow(speech, 0, i, 1),
                     tn_flatten(tn_forward(net, tn_unsqueeze(window, 0))));
        }
    return speech;
}
/* Speech begins where the chance is one half, and ends where it is well below. */
static void print(const float *chance, int64_t n) {
    const double seconds = (double)WINDOW / RATE;
    int64_t begun = -1;
    for (int64_t i = 0; i <= n; i++) {
        const double now = i < n ? chance[i] : 0;
        if (begun < 0 && now >= 0.5) begun = i;
        if (begun < 0 || now >= 0.35) continue;
        printf("speech from %.2f s to %.2f s\n", (double)begun * seconds, (double)i * seconds);
        begun = -1;
    }
    printf("%lld windows\n", (long long)n);
}

int main(int argc, char **argv) {
    const char *file = argc > 3 && strcmp(argv[1], "--save") == 0 ? argv[2] : NULL;
    char **arg = argv + (file ? 3 : 1);
    if (argc - (arg - argv) < 1 || argc - (arg - argv) > 2) {
        fprintf(stderr, "usage: speech [--save FILE] WEIGHTS [SOUND.wav]\n");
        return 2;
    }
    tn_module *net = vad_new();
    tn_inference_mode
        TN_SCOPE {
            tn_module_load_file(net, arg[0]);
            tn_tensor *sound = arg[1] ? wav_read(arg[1]) : vowels();
            const tn_named named[] = {{"sound", sound}, {"speech", listen(net, sound)}};
            if (tn_ok() && (!file || tn_safetensors_save(file, named, 2)))
                print(tn_data(named[1].tensor), tn_numel(named[1].tensor));
        }
    tn_module_free(net);
    const bool failed = tn_error_print();
    tn_context_free(NULL);
    return failed;
}
