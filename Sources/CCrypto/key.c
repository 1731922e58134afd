// Reads the length of an RSA key in PEM by libcrypto, which is loaded at the first use.
#include "CCrypto.h"

#include <dlfcn.h>
#include <pthread.h>

typedef struct bio_st BIO;
typedef struct evp_pkey_st EVP_PKEY;
typedef int passphrase_callback(char *, int, int, void *);

static struct {
    BIO *(*open)(const void *, int);
    int (*close)(BIO *);
    EVP_PKEY *(*read)(BIO *, EVP_PKEY **, passphrase_callback *, void *);
    void (*release)(EVP_PKEY *);
    int (*is_a)(const EVP_PKEY *, const char *);
    int (*bits)(const EVP_PKEY *);
} key;

static pthread_once_t loading = PTHREAD_ONCE_INIT;
static bool is_loaded;

static void load(void) {
#ifdef __APPLE__
    void *opened = dlopen("libcrypto.3.dylib", RTLD_LAZY | RTLD_LOCAL);
#else
    void *opened = dlopen("libcrypto.so.3", RTLD_LAZY | RTLD_LOCAL);
#endif
    if (opened == NULL) return;
    *(void **)&key.open = dlsym(opened, "BIO_new_mem_buf");
    *(void **)&key.close = dlsym(opened, "BIO_free");
    *(void **)&key.read = dlsym(opened, "PEM_read_bio_PrivateKey");
    *(void **)&key.release = dlsym(opened, "EVP_PKEY_free");
    *(void **)&key.is_a = dlsym(opened, "EVP_PKEY_is_a");
    *(void **)&key.bits = dlsym(opened, "EVP_PKEY_get_bits");
    is_loaded = key.open && key.close && key.read && key.release && key.is_a && key.bits;
}

// Without a callback the library would ask for the passphrase on the terminal.
static int refuse_passphrase(char *buffer, int size, int writes, void *owner) {
    (void)buffer, (void)size, (void)writes, (void)owner;
    return -1;
}

int wake_rsa_bits(const char *pem, int count) {
    pthread_once(&loading, load);
    if (!is_loaded) return 0;
    BIO *text = key.open(pem, count);
    if (text == NULL) return 0;
    EVP_PKEY *found = key.read(text, NULL, refuse_passphrase, NULL);
    key.close(text);
    if (found == NULL) return 0;
    int bits = key.is_a(found, "RSA") == 1 ? key.bits(found) : 0;
    key.release(found);
    return bits;
}
