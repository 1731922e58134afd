// Loading libmicrohttpd: every call by its name, all of them or none.
#include "CMicrohttpd.h"

#include <dlfcn.h>

struct wake_http_calls wake_http_calls;

// The name under which programs that link it find it: that of Debian 9 and all later ones.
static const char library[] = "libmicrohttpd.so.12";

const char *wake_http_load(void) {
    if (wake_http_calls.MHD_start_daemon != NULL) return NULL;
    void *opened = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (opened == NULL) return dlerror();
    struct wake_http_calls calls;
#define FIND(name) \
    if ((calls.name = (__typeof__(name) *) dlsym(opened, #name)) == NULL) return dlerror();
    WAKE_HTTP_CALLS(FIND)
#undef FIND
    wake_http_calls = calls;
    return NULL;
}
