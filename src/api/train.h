/* train.h - checkpoints, and a training loop that reports to a callback.
 *
 * A checkpoint is one safetensors file, version 1, which later versions load for ever:
 *   model.<name>                  the state dict
 *   optimizer.state.<i>.<name>, optimizer.group.<g>.<option>     see tn_optimizer_state_dict
 *   schedule.count (i64), schedule.initial (f64, groups)
 *   rng.cpu                       u8 (5056): torch.get_rng_state's bytes
 *   rng.loader                    the same of the loader's own generator, where it has one
 *   train.<name>                  numbers of the program: 0-dim f64 (train.epoch: epochs done)
 * with the notes "format" = "tensor.h checkpoint" and "version" = "1". */
#ifndef TNI_API_TRAIN_H
#define TNI_API_TRAIN_H

#include "data.h"

TNI_EXTERN_C_BEGIN

/* --- checkpoints ------------------------------------------------------------------------------ */

typedef struct tn_named_number {
    const char *name;
    double value;
} tn_named_number;

/* What belongs together; NULL members are left out (when saving) or left as they are (when
 * loading). */
typedef struct tn_state {
    tn_module *model;
    tn_optimizer *optimizer;
    tn_schedule *schedule;
    tn_generator *generator;
    tn_named_number
        *numbers; /* train.<name>; loading fills the values, NaN for those that the file lacks */
    int64_t nnumbers;
    tn_generator *loader_generator; /* a loader's own (tn_loader_generator); loading leaves it as it
                                       is where the file has none */
} tn_state;
/* Saved atomically. Loading is all or nothing: a file that lacks a part asked for, or does not fit,
 * changes nothing. Resuming from it gives the same bits as never having stopped. */
TN_API bool tn_checkpoint_save_at(const char *file, int line, const char *path,
                                  const tn_state *state);
TN_API bool tn_checkpoint_load_at(const char *file, int line, const char *path,
                                  const tn_state *state);
#define tn_checkpoint_save(path, state) tn_checkpoint_save_at(__FILE__, __LINE__, path, state)
#define tn_checkpoint_load(path, state) tn_checkpoint_load_at(__FILE__, __LINE__, path, state)

/* --- training --------------------------------------------------------------------------------- */

typedef enum tn_event {
    TN_EVENT_BEGIN = 1, /* before the first epoch; epoch: the first one */
    TN_EVENT_EPOCH,     /* an epoch begins */
    TN_EVENT_STEP,      /* a step was made */
    TN_EVENT_TRAINED,   /* the epoch's steps are done */
    TN_EVENT_EVALUATE,  /* a batch of the test set was evaluated */
    TN_EVENT_EPOCH_END, /* evaluated, schedule moved */
    TN_EVENT_SAVED,     /* the checkpoint is written */
    TN_EVENT_END
} tn_event;

/* What a callback sees. loss and accuracy are means over the items so far in this epoch (training)
 * or over the test set (EVALUATE, EPOCH_END); accuracy is NaN where the target is no class. */
typedef struct tn_progress {
    tn_event event;
    int64_t epoch, epochs; /* from 0 */
    int64_t step, steps;   /* done, in this epoch */
    int64_t items;         /* done, in this epoch */
    double batch_loss;     /* of the last step */
    double loss, accuracy; /* training */
    double test_loss, test_accuracy;
    double seconds, rate; /* since the epoch began; items a second */
    double remaining;     /* seconds to the end of the epoch, estimated */
    double lr;
} tn_progress;

/* The loss of a batch, a scalar tensor that needs a gradient; *output (may be set) is what accuracy
 * is counted from: (n, classes), against field[1] of the batch. */
typedef tn_tensor *(*tn_batch_loss)(tn_module *model, const tn_batch *batch, tn_tensor **output,
                                    void *user);

typedef struct tn_train_args {
    tn_module *loss;          /* (input, target) -> loss; NULL: CrossEntropyLoss */
    tn_batch_loss batch_loss; /* instead of `loss`, for anything else */
    tn_schedule *schedule;    /* moved once an epoch */
    tn_loader *test;          /* evaluated after each epoch */
    int64_t epochs;
    double clip_norm;       /* 0: gradients are not clipped */
    const char *checkpoint; /* saved after each epoch */
    bool resume;            /* begins from `checkpoint`; where there is no such file, from 0 */
    bool (*on)(const tn_progress *progress,
               void *user); /* false: stops after this event, which is no error */
    void *user;
    tn_module *model; /* required: all are borrowed */
    tn_optimizer *optimizer;
    tn_loader *loader;
} tn_train_args;
/* Trains; false with an error set. Begins a new epoch of the loader, leaves the model in training
 * mode. */
TN_API bool tn_train_at(const char *file, int line, const tn_train_args *args);
#ifndef __cplusplus
#define tn_train(model_, optimizer_, ...)                                                          \
    TNI_CALL_AS(tn_train_at, tn_train_args, .epochs = 1, .model = model_, .optimizer = optimizer_, \
                .loader = __VA_ARGS__)
#endif
/* Mean loss and accuracy over a loader from its first batch on, in eval mode, without recording;
 * either pointer may be NULL. Afterwards each module is in the mode that it was in. */
TN_API bool tn_evaluate_at(const char *file, int line, tn_module *model, tn_module *loss,
                           tn_loader *loader, double *mean_loss, double *accuracy);
#define tn_evaluate(model, loss, loader, mean_loss, accuracy) \
    tn_evaluate_at(__FILE__, __LINE__, model, loss, loader, mean_loss, accuracy)

TNI_EXTERN_C_END
#endif
