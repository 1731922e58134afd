// Loads libpaho-mqtt3as: all calls by name, or none, and never without the screen.
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "CPaho.h"
#include "paho.h"
#include "screen.h"

struct paho_calls paho;

static const char library[] = "libpaho-mqtt3as.so.1";

static pthread_once_t loading = PTHREAD_ONCE_INIT;
static bool is_loaded;
static char fault[256];

static bool find(void *opened, void **call, const char *name) {
    *call = dlsym(opened, name);
    if (*call == NULL) snprintf(fault, sizeof fault, "%s has no %s", library, name);
    return *call != NULL;
}

static void load(void) {
    void *opened = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (opened == NULL) {
        const char *reason = dlerror();
        snprintf(fault, sizeof fault, "%s", reason == NULL ? library : reason);
        return;
    }
#define FIND(result, name, arguments) find(opened, (void **) &paho.name, "MQTTAsync_" #name) &&
    if (!(PAHO_CALLS(FIND) true)) return;
#undef FIND
    const char *hindrance = screen_install(opened);
    if (hindrance != NULL) snprintf(fault, sizeof fault, "%s: %s", library, hindrance);
    is_loaded = hindrance == NULL;
}

const char *paho_load(void) {
    pthread_once(&loading, load);
    return is_loaded ? NULL : fault;
}

const char *wake_mqtt_fault_of_library(void) { return paho_load(); }
