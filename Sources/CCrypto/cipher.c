// AES-128 and SHA-256 by libcrypto, which is loaded at the first use: every call by its name, all of them or none.
#include "CCrypto.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

// The interface that OpenSSL promises to keep throughout version 3.
typedef struct evp_cipher_ctx_st EVP_CIPHER_CTX;
typedef struct evp_cipher_st EVP_CIPHER;
typedef struct engine_st ENGINE;
typedef struct evp_md_st EVP_MD;

static struct {
    int (*OPENSSL_init_crypto)(uint64_t options, const void *settings);
    EVP_CIPHER_CTX *(*EVP_CIPHER_CTX_new)(void);
    void (*EVP_CIPHER_CTX_free)(EVP_CIPHER_CTX *);
    int (*EVP_CIPHER_CTX_ctrl)(EVP_CIPHER_CTX *, int type, int argument, void *pointer);
    int (*EVP_CIPHER_CTX_set_padding)(EVP_CIPHER_CTX *, int padding);
    int (*EVP_CipherInit_ex)(EVP_CIPHER_CTX *, const EVP_CIPHER *, ENGINE *, const unsigned char *key,
                             const unsigned char *nonce, int encrypts);
    int (*EVP_CipherUpdate)(EVP_CIPHER_CTX *, unsigned char *out, int *out_count, const unsigned char *in, int count);
    const EVP_CIPHER *(*EVP_aes_128_ccm)(void);
    const EVP_CIPHER *(*EVP_aes_128_ecb)(void);
    const EVP_MD *(*EVP_sha256)(void);
    int (*EVP_Digest)(const void *data, size_t count, unsigned char *digest, unsigned int *size, const EVP_MD *,
                      ENGINE *);
    int (*CRYPTO_memcmp)(const void *one, const void *other, size_t count);
} calls;

enum { NO_CONFIGURATION = 0x80, NO_EXIT_HANDLER = 0x80000 };
enum { SET_NONCE_LENGTH = 0x9, GET_TAG = 0x10, SET_TAG = 0x11 };

#ifdef __APPLE__
static const char library[] = "libcrypto.3.dylib";
#else
static const char library[] = "libcrypto.so.3";
#endif

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
#define FIND(name) find(opened, (void **) &calls.name, #name)
    is_loaded = FIND(OPENSSL_init_crypto) && FIND(EVP_CIPHER_CTX_new) && FIND(EVP_CIPHER_CTX_free)
        && FIND(EVP_CIPHER_CTX_ctrl) && FIND(EVP_CIPHER_CTX_set_padding) && FIND(EVP_CipherInit_ex)
        && FIND(EVP_CipherUpdate) && FIND(EVP_aes_128_ccm) && FIND(EVP_aes_128_ecb) && FIND(EVP_sha256)
        && FIND(EVP_Digest) && FIND(CRYPTO_memcmp);
#undef FIND
    // It reads no file of the machine, and leaves nothing to be run at exit.
    if (is_loaded) calls.OPENSSL_init_crypto(NO_CONFIGURATION | NO_EXIT_HANDLER, NULL);
}

const char *wake_cipher_fault(void) {
    pthread_once(&loading, load);
    return is_loaded ? NULL : fault;
}

static EVP_CIPHER_CTX *begin(void) { return wake_cipher_fault() == NULL ? calls.EVP_CIPHER_CTX_new() : NULL; }

/// Sets lengths and key, and takes what is only authenticated. A null `tag` is of one that is still to be made.
static bool prepare(EVP_CIPHER_CTX *context, bool encrypts, const uint8_t *key, const uint8_t *nonce,
                    size_t nonce_count, const uint8_t *extra, size_t extra_count, size_t count, const uint8_t *tag,
                    size_t tag_count) {
    int ignored;
    return count <= INT_MAX && extra_count <= INT_MAX
        && calls.EVP_CipherInit_ex(context, calls.EVP_aes_128_ccm(), NULL, NULL, NULL, encrypts) == 1
        && calls.EVP_CIPHER_CTX_ctrl(context, SET_NONCE_LENGTH, (int) nonce_count, NULL) == 1
        && calls.EVP_CIPHER_CTX_ctrl(context, SET_TAG, (int) tag_count, (void *) tag) == 1
        && calls.EVP_CipherInit_ex(context, NULL, NULL, key, nonce, encrypts) == 1
        && calls.EVP_CipherUpdate(context, NULL, &ignored, NULL, (int) count) == 1
        && (extra_count == 0 || calls.EVP_CipherUpdate(context, NULL, &ignored, extra, (int) extra_count) == 1);
}

enum wake_cipher_result wake_ccm_open(const uint8_t *key, const uint8_t *nonce, size_t nonce_count,
                                      const uint8_t *extra, size_t extra_count, const uint8_t *sealed, size_t count,
                                      const uint8_t *tag, size_t tag_count, uint8_t *plain) {
    EVP_CIPHER_CTX *context = begin();
    if (context == NULL) return WAKE_CIPHER_ABSENT;
    int opened;
    enum wake_cipher_result result = WAKE_CIPHER_ABSENT;
    if (prepare(context, false, key, nonce, nonce_count, extra, extra_count, count, tag, tag_count)) {
        bool is_true = calls.EVP_CipherUpdate(context, plain, &opened, sealed, (int) count) == 1;
        result = is_true ? WAKE_CIPHER_DONE : WAKE_CIPHER_MISMATCH;
    }
    calls.EVP_CIPHER_CTX_free(context);
    return result;
}

enum wake_cipher_result wake_ccm_seal(const uint8_t *key, const uint8_t *nonce, size_t nonce_count,
                                      const uint8_t *extra, size_t extra_count, const uint8_t *plain, size_t count,
                                      uint8_t *sealed, uint8_t *tag, size_t tag_count) {
    EVP_CIPHER_CTX *context = begin();
    if (context == NULL) return WAKE_CIPHER_ABSENT;
    int written;
    bool is_done = prepare(context, true, key, nonce, nonce_count, extra, extra_count, count, NULL, tag_count)
        && calls.EVP_CipherUpdate(context, sealed, &written, plain, (int) count) == 1
        && calls.EVP_CIPHER_CTX_ctrl(context, GET_TAG, (int) tag_count, tag) == 1;
    calls.EVP_CIPHER_CTX_free(context);
    return is_done ? WAKE_CIPHER_DONE : WAKE_CIPHER_ABSENT;
}

static enum wake_cipher_result crypt(bool encrypts, const uint8_t *key, const uint8_t *blocks, size_t count,
                                     uint8_t *result) {
    if (count % WAKE_AES_BLOCK_BYTES != 0 || count > INT_MAX) return WAKE_CIPHER_ABSENT;
    EVP_CIPHER_CTX *context = begin();
    if (context == NULL) return WAKE_CIPHER_ABSENT;
    int written;
    bool is_done = calls.EVP_CipherInit_ex(context, calls.EVP_aes_128_ecb(), NULL, key, NULL, encrypts) == 1
        && calls.EVP_CIPHER_CTX_set_padding(context, 0) == 1
        && calls.EVP_CipherUpdate(context, result, &written, blocks, (int) count) == 1;
    calls.EVP_CIPHER_CTX_free(context);
    return is_done ? WAKE_CIPHER_DONE : WAKE_CIPHER_ABSENT;
}

enum wake_cipher_result wake_aes_encrypt(const uint8_t *key, const uint8_t *blocks, size_t count, uint8_t *result) {
    return crypt(true, key, blocks, count, result);
}

enum wake_cipher_result wake_aes_decrypt(const uint8_t *key, const uint8_t *blocks, size_t count, uint8_t *result) {
    return crypt(false, key, blocks, count, result);
}

bool wake_sha256(const uint8_t *bytes, size_t count, uint8_t *digest) {
    return wake_cipher_fault() == NULL
        && calls.EVP_Digest(bytes, count, digest, NULL, calls.EVP_sha256(), NULL) == 1;
}

bool wake_are_equal(const uint8_t *one, const uint8_t *other, size_t count) {
    return wake_cipher_fault() == NULL && calls.CRYPTO_memcmp(one, other, count) == 0;
}
