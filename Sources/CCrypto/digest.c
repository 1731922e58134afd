// SHA-256 of a file by libcrypto, which is loaded at the first use.
#include "CCrypto.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct evp_md_ctx_st EVP_MD_CTX;
typedef struct evp_md_st EVP_MD;
typedef struct engine_st ENGINE;

static struct {
    EVP_MD_CTX *(*make)(void);
    void (*release)(EVP_MD_CTX *);
    const EVP_MD *(*sha256)(void);
    int (*begin)(EVP_MD_CTX *, const EVP_MD *, ENGINE *);
    int (*add)(EVP_MD_CTX *, const void *, size_t);
    int (*end)(EVP_MD_CTX *, unsigned char *, unsigned int *);
} digest;

static pthread_once_t loading = PTHREAD_ONCE_INIT;
static bool is_loaded;

static void load(void) {
#ifdef __APPLE__
    void *opened = dlopen("libcrypto.3.dylib", RTLD_LAZY | RTLD_LOCAL);
#else
    void *opened = dlopen("libcrypto.so.3", RTLD_LAZY | RTLD_LOCAL);
#endif
    if (opened == NULL) return;
    *(void **)&digest.make = dlsym(opened, "EVP_MD_CTX_new");
    *(void **)&digest.release = dlsym(opened, "EVP_MD_CTX_free");
    *(void **)&digest.sha256 = dlsym(opened, "EVP_sha256");
    *(void **)&digest.begin = dlsym(opened, "EVP_DigestInit_ex");
    *(void **)&digest.add = dlsym(opened, "EVP_DigestUpdate");
    *(void **)&digest.end = dlsym(opened, "EVP_DigestFinal_ex");
    is_loaded = digest.make && digest.release && digest.sha256 && digest.begin && digest.add && digest.end;
}

static bool add_file(EVP_MD_CTX *context, int descriptor, unsigned char *buffer, size_t capacity) {
    for (off_t place = 0;;) {
        ssize_t count = pread(descriptor, buffer, capacity, place);
        if (count == 0) return true;
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 || digest.add(context, buffer, (size_t)count) != 1) return false;
        place += count;
    }
}

bool wake_sha256_of_file(int descriptor, char *hex) {
    pthread_once(&loading, load);
    if (!is_loaded) return false;
    enum { CAPACITY = 1 << 18 };
    unsigned char *buffer = malloc(CAPACITY), result[WAKE_SHA256_BYTES];
    EVP_MD_CTX *context = digest.make();
    unsigned int count = 0;
    bool is_done = buffer != NULL && context != NULL && digest.begin(context, digest.sha256(), NULL) == 1
        && add_file(context, descriptor, buffer, CAPACITY) && digest.end(context, result, &count) == 1;
    for (int index = 0; is_done && index < WAKE_SHA256_BYTES; index++)
        snprintf(hex + 2 * index, 3, "%02x", result[index]);
    digest.release(context);
    free(buffer);
    return is_done;
}
