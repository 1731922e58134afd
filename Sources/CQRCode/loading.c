// The two calls of libqrencode that are used, and the form of its answer, which version 4 promises to keep.
#include "CQRCode.h"

#include <dlfcn.h>

struct code {
    int version;
    int width;
    unsigned char *modules;
};

enum { ANY_VERSION = 0, LOW_CORRECTION = 0, DARK = 1 };

int wake_qr_encode(const char *text, uint8_t *modules, size_t capacity) {
    void *library = dlopen("libqrencode.so.4", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) return 0;
    struct code *(*encode)(const char *, int, int) =
        (struct code * (*)(const char *, int, int)) dlsym(library, "QRcode_encodeString8bit");
    void (*release)(struct code *) = (void (*)(struct code *))dlsym(library, "QRcode_free");
    if (encode == NULL || release == NULL) return 0;
    struct code *code = encode(text, ANY_VERSION, LOW_CORRECTION);
    if (code == NULL) return 0;
    size_t count = (size_t)code->width * (size_t)code->width;
    int width = count <= capacity ? code->width : 0;
    for (size_t place = 0; width > 0 && place < count; place++) modules[place] = code->modules[place] & DARK;
    release(code);
    return width;
}
