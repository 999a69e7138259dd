/* main.c - the command: train, resume, predict. */
#include "fashion.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct settings {
    const char *data, *out, *predict, *device;
    int64_t epochs, batch, seed, workers, threads;
    double lr;
    bool resume;
} settings;

static const char help[] =
    "fashion - trains a network on pictures and asks it what it sees\n"
    "\n"
    "  fashion [options]                 train; writes OUT/model.safetensors, curve.svg, grid.svg\n"
    "  fashion [options] predict WHAT    WHAT: number of a test picture, or a PGM file of the same "
    "size\n"
    "\n"
    "  --data DIR     folder with the four IDX files of Fashion-MNIST, unpacked\n"
    "                 (default: those of `make data`, else the digits that come with the source)\n"
    "  --out DIR      folder for results (default build/fashion-out)\n"
    "  --epochs N     default 5 for Fashion-MNIST, 30 for the digits\n"
    "  --batch N      default 64       --lr X       default 0.001\n"
    "  --seed N       default 1        --workers N  default 1\n"
    "  --threads N    threads of one operator; the result has the same bits for any number\n"
    "  --device D     cpu; or cuda, if compiled with -DTN_EXPORT (docs/cuda.md)\n"
    "  --resume       continue from OUT/model.safetensors\n";

static bool whole(const char *text, int64_t *to) {
    char *end;
    errno = 0;
    *to = strtoll(text, &end, 10);
    return *text && !*end && !errno && *to >= 0;
}

static bool option(settings *s, const char *name, const char *value) {
    char *end;
    if (strcmp(name, "--data") == 0) return s->data = value, strlen(value) < 900;
    if (strcmp(name, "--out") == 0) return s->out = value, strlen(value) < 900;
    if (strcmp(name, "--device") == 0) return s->device = value, true;
    if (strcmp(name, "--epochs") == 0) return whole(value, &s->epochs) && s->epochs <= 400;
    if (strcmp(name, "--batch") == 0) return whole(value, &s->batch) && s->batch > 0;
    if (strcmp(name, "--seed") == 0) return whole(value, &s->seed);
    if (strcmp(name, "--workers") == 0) return whole(value, &s->workers) && s->workers < 64;
    if (strcmp(name, "--threads") == 0) return whole(value, &s->threads) && s->threads < 1000;
    if (strcmp(name, "--lr") == 0) return s->lr = strtod(value, &end), *value && !*end && s->lr > 0;
    return false;
}

static bool arguments(settings *s, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        bool last = i + 1 == argc;
        if (strcmp(argv[i], "--resume") == 0)
            s->resume = true;
        else if (strcmp(argv[i], "predict") == 0 && !last)
            s->predict = argv[++i];
        else if (strcmp(argv[i], "train") != 0 && (last || !option(s, argv[i], argv[i + 1]))) {
            fprintf(stderr, "fashion: unknown or bad option \"%s%s%s\"; see fashion --help\n",
                    argv[i], last ? "" : " ", last ? "" : argv[i + 1]);
            return false;
        } else if (strcmp(argv[i], "train") != 0)
            i++;
    }
    return true;
}

#ifdef TN_EXPORT
#include "cuda.inc"
#else
static bool device_choose(pictures *p, const char *name) {
    (void)p;
    return strcmp(name, "cpu") == 0 ||
           tn_error_set(TN_UNSUPPORTED, __FILE__, __LINE__,
                        "--device %s: this program was compiled without -DTN_EXPORT", name);
}
static bool device_takes(tn_module *model) { return model != NULL; }
#endif

/* A new network on the chosen device. NULL with an error. */
static tn_module *model_on_device(int64_t size) {
    tn_module *model = model_new(size);
    if (!model || device_takes(model)) return model;
    tn_module_free(model);
    return NULL;
}

/* Fails before the first epoch if results cannot be written. */
static bool make_folder(const char *folder) {
    if ((mkdir(folder, 0777) == 0 || errno == EEXIST) && access(folder, W_OK | X_OK) == 0)
        return true;
    return tn_error_set(TN_FILE, __FILE__, __LINE__, "cannot write into the folder %s: %s", folder,
                        strerror(errno));
}

static bool learn(const settings *s, const pictures *p, const char *checkpoint) {
    char path[1000];
    show shown;
    tn_module *model = model_on_device(tn_size(p->images[0], 1));
    tn_optimizer *optimizer = model ? tn_optim_adam(tn_parameters(model), .lr = s->lr) : NULL;
    tn_loader *train = tn_loader_new(pictures_dataset(p, 0), .batch_size = s->batch,
                                     .shuffle = true, .workers = (int32_t)s->workers);
    tn_loader *test = tn_loader_new(pictures_dataset(p, 1), .batch_size = 200);
    show_begin(&shown);
    bool ok = tn_ok() && tn_train(model, optimizer, train, .test = test, .epochs = s->epochs,
                                  .checkpoint = checkpoint, .resume = s->resume,
                                  .on = show_progress, .user = &shown);
    if (ok) {
        snprintf(path, sizeof path, "%s/curve.svg", s->out);
        ok = shown.history.steps == 0 || chart_curve(path, &shown.history);
        snprintf(path, sizeof path, "%s/grid.svg", s->out);
        ok = ok && chart_grid(path, p, model);
        if (ok) printf("wrote %s; curve.svg and grid.svg are beside it\n", checkpoint);
    }
    show_end(&shown);
    tn_loader_free(test);
    tn_loader_free(train);
    tn_optimizer_free(optimizer);
    tn_module_free(model);
    return ok;
}

static bool predict(const settings *s, const pictures *p, const char *checkpoint) {
    int64_t index = -1, size = model_size_of(checkpoint);
    tn_module *model = size ? model_on_device(size) : NULL;
    tn_state state = {.model = model};
    bool by_number = whole(s->predict, &index),
         ok = model && tn_checkpoint_load(checkpoint, &state);
    if (ok && size != tn_size(p->images[0], 1))
        ok = tn_error_set(TN_INVALID, __FILE__, __LINE__,
                          "%s was trained on pictures of %d x %d, not %d x %d", checkpoint,
                          (int)size, (int)size, (int)tn_size(p->images[0], 1),
                          (int)tn_size(p->images[0], 1));
    if (ok) {
        tn_set_grad_mode(false);
        tn_module_train(model, false);
        TN_SCOPE {
            tn_tensor *x = by_number ? pictures_test(p, index) : pictures_pgm(p, s->predict);
            tn_tensor *chance = tn_softmax(tn_forward(model, x), 1);
            tn_values_indices best = tn_topk(chance, 3);
            float value[3];
            int64_t which[3];
            ok = tn_read_f32(best.values, value, 3) && tn_read_i64(best.indices, which, 3);
            for (int k = 0; ok && k < 3; k++)
                printf("%-10s %6.2f %%\n", p->classes[which[k]], 100 * (double)value[k]);
            int64_t is = ok && by_number ? tn_item_int(tn_select(p->labels[1], 0, index)) : 0;
            if (ok && by_number) printf("it is:     %s\n", p->classes[is]);
            ok = ok && tn_ok();
        }
    }
    tn_module_free(model);
    return ok;
}

int main(int argc, char **argv) {
    settings s = {NULL, "build/fashion-out", NULL, "cpu", 0, 64, 1, 1, 0, 0.001, false};
    char checkpoint[1000];
    pictures p;
    bool ok;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return fputs(help, stdout), 0;
    if (!arguments(&s, argc, argv)) return 2;
    if (s.threads) tn_set_threads((int32_t)s.threads);
    tn_manual_seed((uint64_t)s.seed);
    ok = pictures_load(&p, s.data) && device_choose(&p, s.device);
    if (ok) {
        if (!s.epochs) s.epochs = p.top == 255 ? 5 : 30;
        printf("%s: %lld pictures of %lld x %lld to train on, %lld to test\n", p.name,
               (long long)tn_size(p.images[0], 0), (long long)tn_size(p.images[0], 1),
               (long long)tn_size(p.images[0], 2), (long long)tn_size(p.images[1], 0));
        snprintf(checkpoint, sizeof checkpoint, "%s/model.safetensors", s.out);
        ok = s.predict ? predict(&s, &p, checkpoint)
                       : make_folder(s.out) && learn(&s, &p, checkpoint);
    }
    if (ok && (fflush(stdout) != 0 || ferror(stdout)))
        ok = tn_error_set(TN_FILE, __FILE__, __LINE__, "standard output: %s", strerror(errno));
    if (!ok) fprintf(stderr, "fashion: failed\n"), tn_error_print();
    pictures_free(&p);
    tn_context_free(NULL);
    return ok ? 0 : 1;
}
