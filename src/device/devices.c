/* devices.c - devices by name and number: cpu, meta, and the backends that have registered. */
#include "../call/call.h"

TN_API tn_device_id tn_device_at(const char *file, int line, const char *name) {
    tni_block *b = tni_here();
    tn_device_id id = TN_META;
    if (!tni_enter(b, file, line)) return TN_NO_DEVICE;
    if (name && strcmp(name, "cpu") == 0) return TN_CPU;
    if (name && strcmp(name, "meta") == 0) return TN_META;
    for (tni_device *d = b->context->devices; d; d = d->next) {
        id++;
        if (name && strcmp(d->name, name) == 0) return id;
    }
    tni_error(b, TN_INVALID, "tn_device: there is no device '%.40s'; cpu and meta are there%s",
              name ? name : "(NULL)",
              b->context->devices ? ", and the backends that were registered" : "");
    tni_leave(b, false);
    return TN_NO_DEVICE;
}

TN_API tn_device_id tnp_device(const char *name) { return tn_device_at(NULL, 0, name); }
