/* msample.c - see msample.h. */
#include "msample.h"

static const tn_param plain_param[] = {{"input", TN_T_TENSOR, 0, 0, 0, 0, NULL}};
static tn_tensor *const plain_defaults[1] = {NULL};
static const char *const plain_results[] = {"output"};
static const tn_gen plain_call = {plain_param, plain_defaults,      plain_results, NULL, 1, 1,   1,
                                  0,           sizeof(tn_tensor *), UINT16_MAX,    0,    0, {0}, 0};

int msample_count(const tn_mrow *row) {
    int n = 1;
    for (const char *at = row->sample; at && (at = strstr(at, " | ")) != NULL; at += 3) n++;
    return n;
}

static void msample_text(msample *m, int i) {
    const char *from = m->row->sample, *end, *colon;
    m->make_text[0] = m->call_text[0] = 0;
    if (!from) {
        for (int k = 0; k < m->call.gen->nfixed; k++)
            if (!(m->call.gen->param[k].flags & TN_P_OPTIONAL)) strcat(m->call_text, "(2,3) ");
        return;
    }
    for (; i > 0; i--) from = strstr(from, " | ") + 3;
    end = strstr(from, " | ");
    if (!end) end = from + strlen(from);
    colon = *from == ':' ? from : strstr(from, ": ");
    snprintf(m->make_text, sizeof m->make_text, "%.*s", (int)(colon - from), from);
    snprintf(m->call_text, sizeof m->call_text, "%.*s", (int)(end - colon - 1), colon + 1);
}

bool msample_make(msample *m, const tn_mrow *row, int i, tn_dtype dtype) {
    memset(m, 0, sizeof *m);
    m->row = row;
    m->make.name = m->call.name = row->gen->type;
    m->make.schema = m->call.schema = row->schema;
    m->make.gen = row->gen->make;
    m->call.gen = row->gen->call ? row->gen->call : &plain_call;
    /* probabilities to those that want them */
    m->call.domain = "input:0.1..0.9 target:0.1..0.9 var:0.1..0.9 _random_samples:0..0.99";
    msample_text(m, i);
    m->make.domain = m->call.domain;
    m->make.sample = m->make_text;
    m->call.sample = m->call_text;
    return sample_make(&m->options, &m->make, 0, dtype, false) &&
           sample_make(&m->inputs, &m->call, 0, dtype, false);
}

/* A stack's layer is no value of a sample: it is TransformerEncoderLayer(4, 2, 6, 0.0), or the
 * decoder's. The other options are numbers with names. */
static bool msample_layer(const msample *m, const tn_gen *gen, char *args) {
    const tn_param *p = gen->nparam ? &gen->param[0] : NULL;
    const bool encoder = p && !strcmp(p->name, "encoder_layer");
    tn_module *layer;
    if (!p || p->type != TN_T_MODULE) return false;
    layer = encoder ? tnp_nn_transformer_encoder_layer(4, 2, 6, 0, TN_ACTIVATION_RELU, 1e-5, false,
                                                       false, true, TN_F64, TN_CPU)
                    : tnp_nn_transformer_decoder_layer(4, 2, 6, 0, TN_ACTIVATION_RELU, 1e-5, false,
                                                       false, true, TN_F64, TN_CPU);
    memcpy(args, gen->defaults, gen->args_size);
    memcpy(args + p->offset, &layer, sizeof layer);
    for (int i = 0; i < m->options.nvalues; i++) {
        const tn_value *v = &m->options.value[i];
        if (!v->name) continue;
        p = tn_param_named(gen, v->name, strlen(v->name));
        if (p) tn_param_set_number(p, args, tn_int(v->as.integer));
    }
    return true;
}

tn_module *msample_module(msample *m) {
    const tn_gen *gen = m->make.gen;
    tni_args args;
    tn_module *child[3];
    if (!gen) return NULL;
    if (msample_layer(m, gen, args.at)) return tn_module_make("msample", 1, m->row, args.at);
    if (!tn_bind("msample", 1, m->make.name, gen, m->options.value, m->options.nvalues, true,
                 args.at) &&
        (gen->nparam == 0 || gen->param[0].type != TN_T_MODULES))
        return NULL;
    for (int i = 0; i < gen->nparam; i++)
        if (gen->param[i].type == TN_T_MODULES) {
            tn_modules list = tn_modules_of(child, 3);
            tn_error_take(NULL);
            child[0] = tnp_nn_linear(3, 4, true, TN_NO_DTYPE, TN_NO_DEVICE);
            child[1] = tnp_nn_relu(false, TN_NO_DTYPE, TN_NO_DEVICE);
            child[2] = tnp_nn_linear(4, 2, false, TN_NO_DTYPE, TN_NO_DEVICE);
            memcpy(args.at, gen->defaults, gen->args_size);
            memcpy(args.at + gen->param[i].offset, &list, sizeof list);
        }
    return tn_module_make("msample", 1, m->row, args.at);
}

bool msample_call(msample *m, tn_module *module, tn_tensor **out, int room, int *n) {
    *n = m->call.gen->nresults;
    return *n <= room &&
           tn_module_call_values("msample", 2, module, m->inputs.value, m->inputs.nvalues, out, *n);
}
