/* checkpoint.c - any bytes as a checkpoint of a small model with all that belongs to one. What is
 * refused has changed nothing; what was loaded, saved and loaded again is the same. */
#include "fuzz.h"

static tn_module *net;
static tn_optimizer *adam;
static tn_schedule *schedule;
static tn_generator *generator;
static tn_loader *loader;
static tn_named_number numbers[2] = {{"epoch", 3}, {"best", 0.5}};
static tn_state whole, model_alone, rest;

static void begin(void) {
    tn_manual_seed(4);
    net = tn_sequential(tn_nn_linear(2, 3), tn_nn_batch_norm1d(3), tn_nn_linear(3, 1));
    adam = tn_optim_adam(tn_parameters(net), .lr = 0.01);
    schedule = tn_optim_step_lr(adam, 2, 0.5);
    generator = tn_generator_new(5);
    TN_SCOPE {
        tn_tensor *items[] = {tn_ones(TN_DIMS(2, 2)), tn_zeros(TN_DIMS(2), .dtype = TN_I64)};
        loader = tn_loader_new(tn_dataset_tensors(tn_tensors_of(items, 2)), .batch_size = 2);
        tn_backward(tn_sum(tn_forward(net, tn_ones(TN_DIMS(2, 2)))));
        tn_optimizer_step(adam);
    }
    whole.model = model_alone.model = net;
    whole.optimizer = adam;
    whole.schedule = schedule;
    whole.numbers = rest.numbers = numbers;
    whole.nnumbers = rest.nnumbers = 2;
    rest.generator = generator;
    MUST(tn_checkpoint_save("whole", &whole) && tn_checkpoint_save("rest", &rest), "saving");
}

/* Whether `in` could be loaded as that state, which is `kept` before and after. */
static bool one_state(const tn_state *s, const char *kept, const uint8_t *data, size_t size) {
    int64_t mark = fuzz_mark();
    bool ok = tn_checkpoint_load("in", s), also;
    fuzz_within(mark, size);
    if (!ok) fuzz_error();
    MUST(tn_checkpoint_save("now", s), "what was loaded cannot be saved");
    /* From memory it is the same, onto the state that the file gave. */
    mark = fuzz_mark();
    also = tn_checkpoint_load_memory(data, size, s);
    fuzz_within(mark, size);
    if (!also) fuzz_error();
    MUST(ok == also, "memory and file differ");
    MUST(tn_checkpoint_save("again", s) && fuzz_same_files("now", "again"),
         "memory and file give different states");
    MUST(ok || fuzz_same_files("now", kept), "a refused checkpoint has changed something");
    if (!ok) return false;
    MUST(tn_checkpoint_load("now", s), "what was saved cannot be loaded");
    MUST(tn_checkpoint_save("again", s), "saving again");
    MUST(fuzz_same_files("now", "again"), "the second file differs from the first");
    MUST(tn_checkpoint_load(kept, s) && tn_checkpoint_save("again", s), "loading the good one");
    MUST(fuzz_same_files("again", kept), "the good one has other bytes now");
    return true;
}

static bool one(const uint8_t *data, size_t size) {
    bool valid = false;
    tn_safetensors *f;
    fuzz_put("in", data, size);
    f = tn_safetensors_open("in");
    tn_safetensors_close(f);
    if (!f) { /* as the target safetensors finds out: quickly done */
        fuzz_error();
        MUST(!tn_checkpoint_load("in", &whole) && fuzz_error() == TN_FORMAT, "no such file");
        return false;
    }
    if (tn_module_load_file(net, "in")) MUST(tn_checkpoint_load("whole", &whole), "loading");
    tn_error_take(NULL);
    if (!tn_train(net, adam, loader, .schedule = schedule, .epochs = 0, .checkpoint = "in",
                  .resume = true))
        fuzz_error();
    MUST(tn_checkpoint_load("whole", &whole), "loading");
    valid |= one_state(&whole, "whole", data, size);
    if (tn_checkpoint_load("in", &model_alone))
        MUST(tn_checkpoint_load("whole", &whole), "loading");
    tn_error_take(NULL);
    valid |= one_state(&rest, "rest", data, size);
    return valid;
}

const fuzz_target fuzz_this = {"checkpoint", begin, one};

#ifndef FUZZ_REPLAY
#include "mutate.inl"
#endif
