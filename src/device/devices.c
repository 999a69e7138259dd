/* devices.c - devices by name and number: cpu, meta, and the backends that have registered. */
#include "device.h"

TN_API tn_device_id tn_device_at(const char *file, int line, const char *name) {
    tni_block *b = tni_here();
    tn_device_id id = TN_META;
    if (!tni_enter(b, file, line)) return TN_NO_DEVICE;
    if (name && strcmp(name, "cpu") == 0) return TN_CPU;
    if (name && strcmp(name, "meta") == 0) return TN_META;
    /* Backends are numbered behind meta, in the order of the list. */
    for (tni_device *d = tni_tensors(b->context)->devices; d; d = d->next) {
        id++;
        if (name && strcmp(d->name, name) == 0) return id;
    }
    tni_error(b, TN_INVALID, "tn_device: device '%.40s' does not exist; expected cpu, meta%s",
              name ? name : "(NULL)",
              tni_tensors(b->context)->devices ? " or a registered backend" : "");
    tni_leave(b, false);
    return TN_NO_DEVICE;
}

TN_API tn_device_id tnp_device(const char *name) { return tn_device_at(NULL, 0, name); }

TN_API const char *tn_device_name(tn_device_id device) {
    tni_block *b = tni_here();
    tni_device *d = b ? tni_tensors(b->context)->devices : NULL;
    if (device == TN_CPU) return "cpu";
    if (device == TN_META) return "meta";
    for (tn_device_id id = TN_META + 1; d && id < device; id++) d = d->next;
    return device > TN_META && d ? d->name : "none";
}
