/* module.c - opens the module of a backend, a shared library that the system loads. A program that
 * does not export its functions (TN_EXPORT) has none, and needs nothing of the system's loader. */
#include "device.h"

#if !defined(TN_EXPORT)
#define MODULE_NONE 1
#elif defined(_WIN32)
#include <windows.h>
#elif defined(__ELF__) || defined(__APPLE__)
#define MODULE_DLOPEN 1
#endif

/* --- the system's loader ---------------------------------------------------------------------- */

#ifdef MODULE_DLOPEN
/* Declared here, and weak: a libc of before 2021 has them in a library of its own (-ldl), which a
 * program that loads no module must not need. */
#define MODULE_NOW 2
#if defined(__GNUC__) && !defined(__APPLE__)
#define MODULE_WEAK __attribute__((weak))
#define MODULE_LINKED (dlopen != NULL)
#else
#define MODULE_WEAK
#define MODULE_LINKED true
#endif
TNI_EXTERN_C_BEGIN
extern void *dlopen(const char *path, int how) MODULE_WEAK;
extern void *dlsym(void *module, const char *name) MODULE_WEAK;
extern char *dlerror(void) MODULE_WEAK;
TNI_EXTERN_C_END
#endif

/* The module's function, or NULL and why. */
static tn_module_backend module_open(const char *path, char *why, size_t room) {
    tn_module_backend found = NULL;
    void *address = NULL;
#if defined(MODULE_NONE)
    snprintf(why, room, "'%.200s': the implementation was compiled without TN_EXPORT", path);
#elif defined(_WIN32)
    HMODULE module = LoadLibraryA(path);
    FARPROC f = module ? GetProcAddress(module, TN_MODULE_BACKEND) : NULL;
    memcpy(&address, &f, sizeof address);
    if (!address) snprintf(why, room, "'%s': error %lu of the system", path, GetLastError());
#elif defined(MODULE_DLOPEN)
    void *module;
    if (!MODULE_LINKED) {
        snprintf(why, room, "the program has no dlopen; link it with -ldl");
        return NULL;
    }
    module = dlopen(path, MODULE_NOW);
    address = module ? dlsym(module, TN_MODULE_BACKEND) : NULL;
    if (!address) snprintf(why, room, "%s", dlerror());
#else
    snprintf(why, room, "'%s': this system loads no modules", path);
#endif
    memcpy(&found, &address, sizeof found);
    return found;
}

/* --- a backend by name ------------------------------------------------------------------------ */

/* "cuda" -> "libtensor_cuda.so"; a name with a slash stays. */
static void module_path(const char *name, char *path, size_t room) {
#if defined(_WIN32)
    const char *const form = "tensor_%.200s.dll";
#elif defined(__APPLE__)
    const char *const form = "libtensor_%.200s.dylib";
#else
    const char *const form = "libtensor_%.200s.so";
#endif
    snprintf(path, room, strchr(name, '/') || strchr(name, '\\') ? "%s" : form, name);
}

TN_API bool tn_device_load_at(const char *file, int line, const char *name, const void *exports) {
    tni_block *b = tni_here();
    char path[1024], why[400] = "it gives no reason";
    tn_module_backend find;
    const tn_backend *backend = NULL;
    if (!tni_enter(b, file, line)) return false;
    if (!name || !*name || strlen(name) >= sizeof path) {
        tni_error(b, TN_INVALID, "tn_device_load: expected the name of a backend or a path");
        return tni_leave(b, false);
    }
    if (!exports) {
        tni_error(b, TN_INVALID,
                  "tn_device_load: define TN_EXPORT before tensor.h is included in this file");
        return tni_leave(b, false);
    }
    module_path(name, path, sizeof path);
    find = module_open(path, why, sizeof why);
    if (find) backend = find(exports, why, sizeof why);
    if (backend) return tni_leave(b, tn_backend_add(backend));
    tni_error(b, TN_UNSUPPORTED, "tn_device_load: there is no device '%.60s' here: %s", name, why);
    return tni_leave(b, false);
}
