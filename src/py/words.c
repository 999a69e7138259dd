/* words.c - torch's words for errors of the library that programs and people look for: they come
 * first, and the library's own text follows with what it knows. */
#include "py.h"

#define PY_OVERLAP                                                                       \
    "unsupported operation: more than one element of the written-to tensor refers to a " \
    "single memory location. Please clone() the tensor before performing the operation."
#define PY_SHARED                                                                               \
    "unsupported operation: some elements of the input tensor and the written-to tensor refer " \
    "to a single memory location. Please clone() the tensor before performing the operation."
#define PY_WRITTEN                                                                  \
    "one of the variables needed for gradient computation has been modified by an " \
    "inplace operation"

static const struct {
    const char *ours, *torch; /* part of a message, * any text; what stands before it then */
    bool value;               /* torch raises a ValueError */
} py_words[] = {
    {"was modified in place after the call", PY_WRITTEN, false},
    {"was modified in place after it was saved", PY_WRITTEN, false},
    {"backward ran a second time through a graph whose", PY_TWICE, false},
    {"are read after they were freed", PY_TWICE, false},
    {"was not used in the graph; set allow_unused",
     "One of the differentiated Tensors appears to not have been used in the graph. Set "
     "allow_unused=True if this is the desired behavior.",
     false},
    {" is a view of a leaf that requires grad and must not be written in place",
     "a view of a leaf Variable that requires grad is being used in an in-place operation.", false},
    {" is a leaf that requires grad and must not be written in place",
     "a leaf Variable that requires grad is being used in an in-place operation.", false},
    {"was made in inference mode and must not be written",
     "Inplace update to inference tensor outside InferenceMode is not allowed.", false},
    {"was made in inference mode and cannot be saved for backward",
     "Inference tensors cannot be saved for backward. To work around you can make a clone to get a "
     "normal tensor and use it in autograd.",
     false},
    {"only floating and complex tensors can require grad",
     "only Tensors of floating point and complex dtype can require gradients", false},
    {" overlaps itself; clone it first", PY_OVERLAP, false},
    {" partly overlaps input ", PY_SHARED, false},
    {" is also input * the operator reads while writing", PY_SHARED, false},
    {"out= does not support gradients, but an argument requires grad",
     "functions with out=... arguments don't support automatic differentiation, but one of the "
     "arguments requires grad.",
     false},
    {"cannot be written in place*  in abs(", "In-place abs is not supported for complex tensors.",
     false},
    {"the operator is not defined for bool*  in sub(",
     "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
     "`logical_xor()` operator instead.",
     false},
    {"inferred dtype *  in linspace(", "torch.linspace()", false},
    {"inferred dtype *  in logspace(", "torch.logspace()", false},
    {"size * of dimension * is negative or too large", "Storage size calculation overflowed.",
     false},
    {"self has shape *, but the result has ",
     "The output's shape doesn't match the broadcast shape.", false},
    {": pooling of ", "pooling is not implemented for this dtype.", false},
    {"is larger than the padded input, ", "Output size is too small.", false},
    {"expected sizes of at least 1, except for N",
     "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input.", false},
    {"kernel_size must have 1 or", "kernel_size must either be a single int, or a tuple of ints.",
     false},
    {"(batch mode) tensor with non-zero dimensions behind",
     "Expected input to have non-zero size for non-batch dimensions.", false},
    {"Input dimension should be at least", NULL, true},
    {"expected a non-empty list of Tensors", NULL, true},
    {"out tensors 0 and 1 overlap*  in aminmax",
     "aminmax(): the `min` and `max` out= tensors must not overlap.", true},
    {"invalid output_size, dim ", NULL, true},
    {"set_data: a tensor is sparse",
     "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible "
     "tensor type.",
     false},
    {"stride (*) must be from 1*  in conv", "non-positive stride is not supported.", false},
    {"stride (0*) must be from 1", "stride should not be zero.", false},
    {"stride (*) must be from 1", "stride should be greater than zero.", false},
    {"output_size (*) must be from 0",
     "elements of output_size must be greater than or equal to 0.", false},
    {"expected more than 1 value per channel when training", NULL, true},
    {"Expected more than 1 spatial element when training", NULL, true},
    {"requested an output size of", NULL, true},
    {"(N, C) or (C), and at least a class",
     "Expected non-empty vector or matrix with optional 0-dim batch size.", false},
    {"expected the same number*  in triplet_margin_loss", "All inputs should have same dimension.",
     false},
    {"input and target differ in the size of the batch",
     "Expected input batch_size to match target batch_size.", true},
    {", expected a probability in [0, 1]", NULL, true},
};

/* Whether the parts of words, which * divides, stand in message one after the other. */
static bool py_words_in(const char *message, const char *words) {
    for (;;) {
        const size_t n = strcspn(words, "*");
        while (*message && strncmp(message, words, n)) message++;
        if (strncmp(message, words, n)) return false;
        if (!words[n]) return true;
        message += n;
        words += n + 1;
    }
}

PY_PRIV size_t py_words_of(const char *message, char *to, size_t room, PyObject **type) {
    static const char nan[] = "anomaly: the gradient of ", input[] = " for input ";
    to[0] = '\0';
    for (size_t i = 0; i < sizeof py_words / sizeof *py_words; i++)
        if (py_words_in(message, py_words[i].ours)) {
            const size_t n = py_words[i].torch ? strlen(py_words[i].torch) : 0;
            if (py_words[i].value) *type = PyExc_ValueError;
            if (!n) return 0;
            return (size_t)snprintf(to, room, "%s%s", py_words[i].torch,
                                    py_words[i].torch[n - 1] == '.' ? " " : ": ");
        }
    if (strncmp(message, nan, sizeof nan - 1) == 0) {
        const char *name = message + sizeof nan - 1, *end = strstr(name, input);
        if (end)
            return (size_t)snprintf(to, room,
                                    "Function '%.*s' returned nan values in its %dth "
                                    "output. ",
                                    (int)(end - name), name, atoi(end + sizeof input - 1));
    }
    return 0;
}
