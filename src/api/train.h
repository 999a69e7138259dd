/* train.h - checkpoints; a training loop that reports to a callback.
 *
 * A checkpoint is one safetensors file (docs/formats.md). All later versions load version 1:
 *   model.<name>                  the state dict
 *   optimizer.state.<i>.<name>, optimizer.group.<g>.<option>     see tn_optimizer_state_dict
 *   schedule.count (i64), schedule.initial (f64, groups)
 *   rng.cpu                       u8 (5056): torch.get_rng_state's bytes
 *   rng.loader, rng.test          the same of own generators of the loader, the test loader
 *   train.<name>                  numbers of the program: 0-dim f64 (train.epoch: epochs done)
 * and the notes "format" = "tensor.h checkpoint" and "version" = "1". */
#ifndef TNI_API_TRAIN_H
#define TNI_API_TRAIN_H

#include "data.h"

TNI_EXTERN_C_BEGIN

/* --- checkpoints ------------------------------------------------------------------------------ */

typedef struct tn_named_number {
    const char *name;
    double value;
} tn_named_number;

/* The parts of a checkpoint. A NULL member is not saved; loading leaves that part as it is. */
typedef struct tn_state {
    tn_module *model;
    tn_optimizer *optimizer;
    tn_schedule *schedule;
    tn_generator *generator;
    tn_named_number *numbers; /* train.<name>; loading sets the values, NaN if the file has none */
    int64_t nnumbers;
    tn_generator *loader_generator; /* a loader's own; unchanged if the file has none */
    tn_generator *test_generator;   /* the same of a test loader */
} tn_state;
/* Saving is atomic. Loading is all or nothing: if the file lacks a part or does not fit, it changes
 * nothing and returns false with an error. A resumed run has the bits of an unbroken one.
 *     tn_checkpoint_save("run.safetensors", &(tn_state){.model = net, .optimizer = opt}) */
TN_API bool tn_checkpoint_save_at(const char *file, int line, const char *path,
                                  const tn_state *state);
TN_API bool tn_checkpoint_load_at(const char *file, int line, const char *path,
                                  const tn_state *state);
#define tn_checkpoint_save(path, ...) tn_checkpoint_save_at(__FILE__, __LINE__, path, __VA_ARGS__)
#define tn_checkpoint_load(path, ...) tn_checkpoint_load_at(__FILE__, __LINE__, path, __VA_ARGS__)
/* The bytes of such a file in memory, freed with tn_bytes_free, and loading them: all is copied. */
TN_API tn_bytes tn_checkpoint_save_memory_at(const char *file, int line, const tn_state *state);
TN_API bool tn_checkpoint_load_memory_at(const char *file, int line, const void *data, size_t bytes,
                                         const tn_state *state);
#define tn_checkpoint_save_memory(...) tn_checkpoint_save_memory_at(__FILE__, __LINE__, __VA_ARGS__)
#define tn_checkpoint_load_memory(data, bytes, ...) \
    tn_checkpoint_load_memory_at(__FILE__, __LINE__, data, bytes, __VA_ARGS__)

/* --- training --------------------------------------------------------------------------------- */

typedef enum tn_event {
    TN_EVENT_BEGIN = 1, /* training begins; `epoch` is its first */
    TN_EVENT_EPOCH,     /* an epoch begins */
    TN_EVENT_STEP,      /* a step was made */
    TN_EVENT_TRAINED,   /* the epoch's last step was made */
    TN_EVENT_EVALUATE,  /* a batch of the test set was evaluated */
    TN_EVENT_EPOCH_END, /* the epoch was evaluated, the schedule has stepped */
    TN_EVENT_SAVED,     /* the checkpoint was written */
    TN_EVENT_END        /* training ends */
} tn_event;

/* What a callback sees. loss and accuracy are means over this epoch's items so far, test_loss and
 * test_accuracy over those of the test set (EVALUATE, EPOCH_END). Accuracies are NaN if the target
 * is not a class. */
typedef struct tn_progress {
    tn_event event;
    int64_t epoch, epochs; /* current, from 0, at END how many were made; all */
    int64_t step, steps;   /* of this epoch: made; all */
    int64_t items;         /* of this epoch, so far */
    double batch_loss;     /* of the last step */
    double loss, accuracy; /* training */
    double test_loss, test_accuracy;
    double best;          /* of what is watched, so far; NaN: none */
    int64_t best_epoch;   /* its epoch, from 0; -1: none */
    double seconds, rate; /* since the epoch began; items a second */
    double remaining;     /* estimated seconds to the end of the epoch */
    double lr;
} tn_progress;

/* Computes the loss of a batch, a 0-dim tensor that requires grad. It may set *output,
 * (n, classes), from which the accuracy is counted against field[1] of the batch. NULL
 * with an error. */
typedef tn_tensor *(*tn_batch_loss)(tn_module *model, const tn_batch *batch, tn_tensor **output,
                                    void *user);

/* What tells a better epoch, on the test set, or on the training set if there is none. */
typedef enum tn_watch { TN_WATCH_LOSS, TN_WATCH_ACCURACY } tn_watch;

typedef struct tn_train_args {
    tn_module *loss;          /* (input, target) -> loss; NULL: CrossEntropyLoss */
    tn_batch_loss batch_loss; /* instead of `loss`, for anything else */
    tn_schedule *schedule;    /* steps once an epoch */
    tn_loader *test;          /* evaluated after each epoch */
    int64_t epochs;
    double clip_norm;       /* 0: no clipping of gradients */
    const char *checkpoint; /* saved after each epoch */
    bool resume;            /* begin from `checkpoint`, or from 0 if the file does not exist */
    int64_t accumulate;     /* batches per step, whose losses are averaged; an epoch's last step may
                         * have fewer; 0: 1 */
    tn_dtype autocast;      /* TN_BF16, TN_F16: of the model and its loss (tn_set_autocast) */
    tn_scaler *scaler;      /* for TN_F16; a step that overflows is left out */
    const char *best;       /* a checkpoint, saved after each epoch that is the best so far */
    int64_t patience;       /* training ends after so many epochs without a better one; 0: never */
    tn_watch watch;
    double min_delta; /* how much better, at least */
    /* false: training stops at this event, without an error and without later events: at EPOCH_END
     * the epoch is not saved any more, at SAVED it is */
    bool (*on)(const tn_progress *progress, void *user);
    void *user;
    tn_module *model; /* these three are required; everything is borrowed */
    tn_optimizer *optimizer;
    tn_loader *loader;
    TNI_NAMED_OPTIONS
} tn_train_args;
/* Trains for args->epochs epochs, beginning a new epoch of the loader, and leaves the model in
 * training mode. Batches go to the device of the model's first parameter. A checkpoint has all that
 * these options keep, so a run that is resumed ends where the unbroken one ends. False with an
 * error, also if a loader has no batches. A loss of NaN is none: the callback sees it
 * (tn_set_anomaly_mode makes it one).
 *     tn_train(model, optimizer, loader, .epochs = 5, .checkpoint = "run.safetensors") */
TN_API bool tn_train_at(const char *file, int line, const tn_train_args *args);
#ifndef __cplusplus
#define tn_train(model_, optimizer_, ...)                                                          \
    TNI_CALL_AS(tn_train_at, tn_train_args, .epochs = 1, .model = model_, .optimizer = optimizer_, \
                .loader = __VA_ARGS__)
#endif
/* The mean loss and accuracy over one epoch of a loader, in eval mode and without recording, on the
 * device of the model's first parameter; either pointer may be NULL. Afterwards each module is in
 * its former mode. False with an error. */
TN_API bool tn_evaluate_at(const char *file, int line, tn_module *model, tn_module *loss,
                           tn_loader *loader, double *mean_loss, double *accuracy);
#define tn_evaluate(model, loss, loader, mean_loss, accuracy) \
    tn_evaluate_at(__FILE__, __LINE__, model, loss, loader, mean_loss, accuracy)

/* --- figures of a training -------------------------------------------------------------------- */

/* What a terminal shows of a training, as one line without its end:
 *     epoch  3/10 [######..........]  loss 0.2311  accuracy 92.15 %  1234/s  12 s left
 *     epoch  3/10  loss 0.2204  accuracy 92.61 %  test loss 0.2504  test accuracy 91.8 %  1230/s
 * the first while an epoch is under way, the second from TN_EVENT_TRAINED on. Writes at most room
 * bytes, with a NUL at the end; returns the length of the whole line. */
TN_API size_t tn_progress_text(const tn_progress *p, char *text, size_t room);

/* Keeps the figures of each epoch, and writes them after each: as a table (CSV: epoch from 1, loss,
 * test_loss, accuracy, test_accuracy, lr, seconds; empty where there is none), and as a picture of
 * losses and accuracies (SVG). When training is resumed, the epochs that the table already has stay
 * in it; they must reach up to the first new one. A file is complete at any time. Either may be
 * NULL. Then .on(progress, .user) is called. One thread at a time uses a log; the caller frees it.
 * NULL with an error.
 *     tn_train_log *log = tn_train_log_new(.csv = "run.csv", .svg = "run.svg");
 *     tn_train(net, opt, loader, .epochs = 9, .on = tn_train_log_on, .user = log);
 *     tn_train_log_free(log); */
typedef struct tn_train_log tn_train_log;
typedef struct tn_train_log_args {
    const char *csv, *svg; /* copied */
    bool (*on)(const tn_progress *progress, void *user);
    void *user;
} tn_train_log_args;
TN_USE_RESULT TN_API tn_train_log *tn_train_log_new_at(const char *file, int line,
                                                       const tn_train_log_args *args);
#define tn_train_log_new(...) TNI_CALL_AS(tn_train_log_new_at, tn_train_log_args, __VA_ARGS__)
TN_API void tn_train_log_free(tn_train_log *log);
/* The callback; log is a tn_train_log. False with an error where a file cannot be read, written. */
TN_API bool tn_train_log_on(const tn_progress *progress, void *log);

TNI_EXTERN_C_END
#endif
