// AES-128 and SHA-256 of libcrypto for Swift: CCM with a short tag, single blocks, and digests of bytes and of files.
// The library is loaded when the first encrypted message is read: most machines never hear one, and it is large.
// What is used of it is declared in cipher.c, so that no header of OpenSSL is needed where this is compiled.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAKE_AES_KEY_BYTES 16
#define WAKE_AES_BLOCK_BYTES 16
#define WAKE_SHA256_BYTES 32

enum wake_cipher_result {
    WAKE_CIPHER_DONE,
    /// The tag is not that of these bytes under this key.
    WAKE_CIPHER_MISMATCH,
    /// The library cannot be loaded, or refused the lengths.
    WAKE_CIPHER_ABSENT,
};

/// Why the library cannot be loaded; null where it is loaded.
const char *wake_cipher_fault(void);

/// Opens `count` bytes of CCM into `plain`, which has as much room. On a mismatch nothing in `plain` means anything.
enum wake_cipher_result wake_ccm_open(const uint8_t *key, const uint8_t *nonce, size_t nonce_count,
                                      const uint8_t *extra, size_t extra_count, const uint8_t *sealed, size_t count,
                                      const uint8_t *tag, size_t tag_count, uint8_t *plain);

/// Seals `count` bytes of CCM into `sealed`, and writes `tag_count` bytes of tag.
enum wake_cipher_result wake_ccm_seal(const uint8_t *key, const uint8_t *nonce, size_t nonce_count,
                                      const uint8_t *extra, size_t extra_count, const uint8_t *plain, size_t count,
                                      uint8_t *sealed, uint8_t *tag, size_t tag_count);

/// Encrypts or decrypts whole blocks, each by itself.
enum wake_cipher_result wake_aes_encrypt(const uint8_t *key, const uint8_t *blocks, size_t count, uint8_t *result);
enum wake_cipher_result wake_aes_decrypt(const uint8_t *key, const uint8_t *blocks, size_t count, uint8_t *result);

/// Writes the WAKE_SHA256_BYTES of the digest; false where the library cannot be loaded.
bool wake_sha256(const uint8_t *bytes, size_t count, uint8_t *digest);
/// Compares in a time that depends on `count` alone.
bool wake_are_equal(const uint8_t *one, const uint8_t *other, size_t count);

/// Writes the digits of the whole file's digest and a closing zero; false where the library or the file cannot be read.
bool wake_sha256_of_file(int descriptor, char *hex);

/// The length of the private RSA key in a PEM text, in bits; 0 for other keys, and where the text cannot be read.
int wake_rsa_bits(const char *pem, int count);
