/* train_log.c - what a training tells: the line for a terminal, the table and the picture of its
 * epochs, and what tn_train refuses of its options. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../../src/api/train.h"
#include "../check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];
static const char *path_of(const char *name) {
    static char path[4][160];
    static int k;
    k = (k + 1) % 4;
    snprintf(path[k], sizeof path[k], "%s/%s", folder, name);
    return path[k];
}
static bool says(tn_code code, const char *text) {
    tn_error_info e = {TN_OK, "", NULL, 0};
    tn_error_take(&e);
    if (e.code == code && strstr(e.message, text)) return true;
    printf("    got %s: %s\n", tn_code_name(e.code), e.message);
    return false;
}

/* --- a training ------------------------------------------------------------------------------- */

typedef struct world {
    tn_module *net, *loss;
    tn_optimizer *opt;
    tn_loader *loader, *test;
} world;
static tn_dataset *points(int64_t n, bool classes) {
    tn_dataset *d = NULL;
    TN_SCOPE {
        tn_tensor *x = tn_reshape(tn_sin(tn_arange(2.0 * (double)n)), TN_DIMS(n, 2));
        d = tn_dataset_tensors(TN_LIST(x, classes ? tn_argmax(x, .dim = 1) : x));
    }
    return d;
}
static world begin(bool classes) {
    world w = {0};
    tn_manual_seed(3);
    w.net = tn_nn_linear(2, 2);
    w.loss = classes ? NULL : tn_nn_mse_loss();
    w.opt = tn_optim_sgd(tn_parameters(w.net), .lr = 0.25);
    w.loader = tn_loader_new(points(12, classes), .batch_size = 4, .shuffle = true);
    w.test = tn_loader_new(points(8, classes), .batch_size = 8);
    return w;
}
static void end(const world *w) {
    tn_loader_free(w->test);
    tn_loader_free(w->loader);
    tn_optimizer_free(w->opt);
    tn_module_free(w->loss);
    tn_module_free(w->net);
}

/* What a callback behind the log heard, as a table of printf's. */
typedef struct heard {
    char table[4000];
    int stop; /* after so many epochs in all; 0: never */
} heard;
static void add(heard *h, const char *format, double v) {
    const size_t n = strlen(h->table);
    if (!isnan(v)) snprintf(h->table + n, sizeof h->table - n, format, v);
}
static bool hear(const tn_progress *p, void *user) {
    heard *h = (heard *)user;
    if (p->event != TN_EVENT_EPOCH_END)
        return p->event != TN_EVENT_SAVED || p->epoch + 1 != h->stop;
    const double figures[] = {p->loss,          p->test_loss, p->accuracy,
                              p->test_accuracy, p->lr,        p->seconds};
    add(h, "%.0f", (double)p->epoch + 1);
    for (int i = 0; i < 6; i++) strcat(h->table, ","), add(h, "%.9g", figures[i]);
    strcat(h->table, "\n");
    return true;
}
static void hear_begin(heard *h) {
    memset(h, 0, sizeof *h);
    strcpy(h->table, "epoch,loss,test_loss,accuracy,test_accuracy,lr,seconds\n");
}
static bool same_file(const char *path, const char *text) {
    char *has = check_file(path);
    const bool same = has && !strcmp(has, text);
    if (!same) printf("    %s has\n%s    not\n%s", path, has ? has : "(nothing)\n", text);
    free(has);
    return same;
}

/* --- the table and the picture ---------------------------------------------------------------- */

static void the_table_has_what_was_told(void) {
    for (int classes = 0; classes < 2; classes++) {
        world w = begin(classes);
        const char *csv = path_of("run.csv"), *svg = path_of("run.svg");
        heard h;
        hear_begin(&h);
        tn_train_log *log = tn_train_log_new(.csv = csv, .svg = svg, .on = hear, .user = &h);
        CHECK(tn_train(w.net, w.opt, w.loader, .epochs = 5, .loss = w.loss,
                       .test = classes ? w.test : NULL, .on = tn_train_log_on, .user = log));
        CHECK(same_file(csv, h.table));
        char *picture = check_file(svg);
        CHECK(picture && !strncmp(picture, "<svg ", 5) &&
              strstr(picture, "epochs 1 to 5</text>\n</svg>"));
        CHECK(picture && strstr(picture, ">loss (dashed: test)<"));
        CHECK(picture && !!strstr(picture, ">accuracy (dashed: test)<") == classes);
        CHECK(picture && !strstr(picture, "nan") && !strstr(picture, "inf"));
        free(picture);
        tn_train_log_free(log);
        end(&w);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_resumed_training_goes_on_in_its_table(void) {
    const char *csv = path_of("run.csv"), *checkpoint = path_of("run.safetensors");
    heard h;
    hear_begin(&h);
    for (int piece = 0; piece < 3; piece++) {
        world w = begin(true);
        tn_train_log *log = tn_train_log_new(.csv = csv, .on = hear, .user = &h);
        h.stop = 2 * piece + 2; /* epochs 2, 4, 6 */
        if (piece == 2) h.stop = 0;
        CHECK(tn_train(w.net, w.opt, w.loader, .epochs = 7, .checkpoint = checkpoint,
                       .resume = piece > 0, .on = tn_train_log_on, .user = log));
        tn_train_log_free(log);
        end(&w);
        /* A line of an epoch that was not saved is written again. */
        FILE *f = piece == 0 ? fopen(csv, "a") : NULL;
        if (f) fprintf(f, "3,9,9,9,9,9,9\n"), fclose(f);
    }
    CHECK(same_file(csv, h.table));
    /* Another training begins the table anew. */
    world w = begin(true);
    hear_begin(&h);
    tn_train_log *log = tn_train_log_new(.csv = csv, .on = hear, .user = &h);
    for (int i = 0; i < 2; i++)
        CHECK(tn_train(w.net, w.opt, w.loader, .on = tn_train_log_on, .user = log));
    tn_train_log_free(log);
    end(&w);
    char *has = check_file(csv), *second = strchr(h.table, '\n') + 1;
    CHECK(has && !strcmp(strchr(has, '\n') + 1, strchr(second, '\n') + 1));
    free(has);
}

static void numbers_of_any_size_come_back(void) {
    static const double some[] = {1e300,    -2.5e-7, 0.000123456789, 123456789, 1e-320,
                                  HUGE_VAL, -0.5};
    const char *csv = path_of("odd.csv");
    char table[2000] = "epoch,loss,test_loss,accuracy,test_accuracy,lr,seconds\n";
    for (int i = 0; i < 7; i++)
        snprintf(table + strlen(table), 200, "%d,%.9g,,%.9g,,%.9g,1\n", i + 3, some[i],
                 some[(i + 1) % 7], some[(i + 2) % 7]);
    FILE *f = fopen(csv, "w");
    CHECK(f);
    if (!f) return;
    fputs(table, f);
    fclose(f);
    tn_train_log *log = tn_train_log_new(.csv = csv);
    tn_progress p = {.event = TN_EVENT_BEGIN, .epoch = 9, .loss = 1, .test_loss = (double)NAN};
    CHECK(tn_train_log_on(&p, log));
    p.event = TN_EVENT_EPOCH_END, p.accuracy = p.test_accuracy = (double)NAN;
    CHECK(tn_train_log_on(&p, log));
    strcat(table, "10,1,,,,0,0\n");
    CHECK(same_file(csv, table));
    tn_train_log_free(log);
}

static void tables_of_others_are_refused(void) {
    static const char *const wrong[] = {
        "",
        "epoch,loss\n1,2\n",
        "epoch,loss,test_loss,accuracy,test_accuracy,lr,seconds\n1,2\n",
        "epoch,loss,test_loss,accuracy,test_accuracy,lr,seconds\n1,2,3,4,5,6,7\n3,2,3,4,5,6,7\n",
        "epoch,loss,test_loss,accuracy,test_accuracy,lr,seconds\n1,2,3,4,5,6,x\n",
        "epoch,loss,test_loss,accuracy,test_accuracy,lr,seconds\ninf,2,3,4,5,6,7\n",
        "epoch,loss,test_loss,accuracy,test_accuracy,lr,seconds\n1e300,2,3,4,5,6,7\n",
        "epoch,loss,test_loss,accuracy,test_accuracy,lr,seconds\n1.5,2,3,4,5,6,7\n",
        "epoch,loss,test_loss,accuracy,test_accuracy,lr,seconds\n1,2,3,4,5,6,7\n2,2,3,4,5,6,7\n",
        "epoch,loss,test_loss,accuracy,test_accuracy,lr,seconds\n1,2,3,4,5,6,7"};
    const char *csv = path_of("wrong.csv");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(tn_save_bytes(csv, wrong[i], strlen(wrong[i])));
        tn_train_log *log = tn_train_log_new(.csv = csv);
        const tn_progress p = {.event = TN_EVENT_BEGIN, .epoch = 4};
        CHECK(!tn_train_log_on(&p, log) && says(TN_FORMAT, "wrong.csv"));
        CHECK(same_file(csv, wrong[i]));
        tn_train_log_free(log);
    }
    world w = begin(true);
    tn_train_log *log = tn_train_log_new(.csv = path_of("none/run.csv"));
    CHECK(!tn_train(w.net, w.opt, w.loader, .on = tn_train_log_on, .user = log) &&
          says(TN_FILE, "none"));
    tn_train_log_free(log);
    tn_train_log_free(NULL);
    end(&w);
    CHECK(!tn_save_bytes(path_of("x"), NULL, 1) && says(TN_INVALID, "tn_save_bytes"));
    CHECK(tn_save_bytes(path_of("x"), NULL, 0) && same_file(path_of("x"), ""));
}

static void a_table_of_later_epochs_begins_anew(void) {
    const char *csv = path_of("later.csv");
    const char *table = "epoch,loss,test_loss,accuracy,test_accuracy,lr,seconds\n5,1,2,3,4,5,6\n";
    CHECK(tn_save_bytes(csv, table, strlen(table)));
    tn_train_log *log = tn_train_log_new(.csv = csv, .svg = path_of("later.svg"));
    tn_progress p = {.event = TN_EVENT_BEGIN, .epoch = 2, .accuracy = 1, .test_accuracy = 1};
    CHECK(tn_train_log_on(&p, log));
    p.event = TN_EVENT_EPOCH_END;
    CHECK(tn_train_log_on(&p, log));
    CHECK(
        same_file(csv, "epoch,loss,test_loss,accuracy,test_accuracy,lr,seconds\n3,0,0,1,1,0,0\n"));
    tn_train_log_free(log);
    char *picture = check_file(path_of("later.svg"));
    CHECK(picture && strstr(picture, ">90 %<") && strstr(picture, ">100 %<") &&
          strstr(picture, "epochs 3 to 3") && !strstr(picture, "110 %"));
    free(picture);
}

/* --- a line ----------------------------------------------------------------------------------- */

static void a_line_says_where_training_is(void) {
    const double none = (double)NAN;
    tn_progress p = {.event = TN_EVENT_STEP,
                     .epoch = 2,
                     .epochs = 10,
                     .step = 34,
                     .steps = 100,
                     .loss = 0.23106,
                     .accuracy = 0.9215,
                     .test_loss = none,
                     .test_accuracy = none,
                     .rate = 1234.4,
                     .remaining = 11.6};
    const char *line =
        "epoch  3/10 [#####...........]  loss 0.2311  accuracy 92.15 %  1234/s  12 s left";
    char text[100];
    CHECK(tn_progress_text(&p, text, sizeof text) == strlen(line));
    CHECK_TEXT(text, line);
    for (size_t room = 1; room < sizeof text; room++) {
        memset(text, '?', sizeof text);
        CHECK(tn_progress_text(&p, text, room) == strlen(line));
        CHECK(strlen(text) == (room <= strlen(line) ? room - 1 : strlen(line)) &&
              !strncmp(text, line, strlen(text)));
        CHECK(room == sizeof text - 1 ||
              text[room < strlen(line) ? room : strlen(line) + 1] == '?');
    }
    p.event = TN_EVENT_EPOCH_END, p.test_loss = 0.25041, p.test_accuracy = 1, p.rate = 2.25;
    tn_progress_text(&p, text, sizeof text);
    CHECK_TEXT(text, "epoch  3/10  loss 0.2311  accuracy 92.15 %  test loss 0.2504  test accuracy "
                     "100.00 %  2.2/s");
    p.event = TN_EVENT_EPOCH, p.steps = p.step = 0, p.loss = p.accuracy = none;
    p.test_loss = p.test_accuracy = none, p.epochs = 3, p.rate = p.remaining = 0;
    tn_progress_text(&p, text, sizeof text);
    CHECK_TEXT(text, "epoch 3/3 [................]  0.0/s  0 s left");
    p.event = TN_EVENT_END, p.epoch = 3; /* epochs that were made */
    tn_progress_text(&p, text, sizeof text);
    CHECK_TEXT(text, "epoch 3/3  0.0/s");
}

/* --- options ---------------------------------------------------------------------------------- */

static void options_that_make_no_sense_are_refused(void) {
    world w = begin(false);
    const char *path = path_of("same.safetensors");
    CHECK(!tn_train(w.net, w.opt, w.loader, .accumulate = -1) && says(TN_INVALID, "accumulate"));
    CHECK(!tn_train(w.net, w.opt, w.loader, .patience = -1) && says(TN_INVALID, "patience"));
    CHECK(!tn_train(w.net, w.opt, w.loader, .min_delta = (double)NAN) &&
          says(TN_INVALID, "min_delta"));
    CHECK(!tn_train(w.net, w.opt, w.loader, .autocast = TN_I64) &&
          says(TN_INVALID, "autocast is int64"));
    CHECK(!tn_train(w.net, w.opt, w.loader, .watch = (tn_watch)7) &&
          says(TN_INVALID, "watch is 7"));
    CHECK(!tn_train(w.net, w.opt, w.loader, .best = path, .checkpoint = path) &&
          says(TN_INVALID, "one file"));
    CHECK(!tn_train(w.net, w.opt, w.loader, .loss = w.loss, .patience = 1,
                    .watch = TN_WATCH_ACCURACY) &&
          says(TN_INVALID, "no classes"));
    CHECK(!tn_train(w.net, w.opt, w.loader, .loss = w.loss, .best = path_of("none/best")) &&
          says(TN_FILE, "none"));
    end(&w);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static const check_test tests[] = {
    CHECK_TEST(the_table_has_what_was_told),
    CHECK_TEST(a_resumed_training_goes_on_in_its_table),
    CHECK_TEST(numbers_of_any_size_come_back),
    CHECK_TEST(tables_of_others_are_refused),
    CHECK_TEST(a_table_of_later_epochs_begins_anew),
    CHECK_TEST(a_line_says_where_training_is),
    CHECK_TEST(options_that_make_no_sense_are_refused),
};

int main(int argc, char **argv) {
    char command[100];
    int failed;
    strcpy(folder, "/tmp/tn_log_XXXXXX");
    if (!mkdtemp(folder)) return 1;
    failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
