// The part of Paho's interface that is used: its structures carry versions, and keep the layout of these.
#pragma once

typedef void *MQTTAsync;
/// What later versions of a structure have at its end. Paho reads callbacks there whatever the version says, so all is null.
enum { PAHO_FURTHER = 24 };
enum { PAHO_SUCCESS = 0, PAHO_NO_PERSISTENCE = 1, PAHO_MQTT_3_1_1 = 4 };
/// Of the trace: a line for each packet, and nothing beneath.
enum { PAHO_TRACE_PACKETS = 4 };

struct paho_message {
    char mark[4];
    int version;
    int count;
    void *bytes;
    int quality;
    int is_retained;
    int is_duplicate;
    int number;
};

struct paho_success {
    int token;
    union {
        int quality;
        struct {
            char *address;
            int protocol;
            int is_session_present;
        } connect;
    } of;
};

struct paho_failure {
    int token;
    int code;
    const char *message;
};

typedef void paho_on_success(void *context, struct paho_success *success);
typedef void paho_on_failure(void *context, struct paho_failure *failure);
typedef void paho_on_lost(void *context, char *cause);
typedef void paho_on_trace(int level, char *line);
typedef int paho_on_message(void *context, char *topic, int topic_count, struct paho_message *message);

struct paho_will {
    char mark[4];
    int version;
    const char *topic;
    const char *text;
    int is_retained;
    int quality;
};

struct paho_tls {
    char mark[4];
    int version;
    const char *authority;
    const char *certificate;
    const char *key;
    const char *key_password;
    const char *ciphers;
    int verifies_certificate;
    int protocol;
    int verifies_name;
    const char *authority_folder;
    int (*on_fault)(const char *text, size_t count, void *context);
    void *fault_context;
    void *shared_key;
    void *shared_key_context;
    int trusts_authority_alone;
};

struct paho_connect {
    char mark[4];
    int version;
    int keep_alive_seconds;
    int is_clean;
    int most_in_flight;
    struct paho_will *will;
    const char *user;
    const char *password;
    int timeout_seconds;
    int retry_seconds;
    struct paho_tls *tls;
    paho_on_success *on_success;
    paho_on_failure *on_failure;
    void *context;
    int address_count;
    char *const *addresses;
    int protocol;
    void *further[PAHO_FURTHER];
};

struct paho_response {
    char mark[4];
    int version;
    paho_on_success *on_success;
    paho_on_failure *on_failure;
    void *context;
    int token;
    void *further[PAHO_FURTHER];
};

struct paho_disconnect {
    char mark[4];
    int version;
    int timeout_ms;
    paho_on_success *on_success;
    paho_on_failure *on_failure;
    void *context;
    void *further[PAHO_FURTHER];
};

/// Every call by its name, and what it is.
#define PAHO_CALLS(EACH) \
    EACH(int, create, (MQTTAsync * made, const char *address, const char *client, int persistence, void *context)) \
    EACH(int, setCallbacks, (MQTTAsync, void *, paho_on_lost *, paho_on_message *, void *delivered)) \
    EACH(int, connect, (MQTTAsync, const struct paho_connect *)) \
    EACH(int, disconnect, (MQTTAsync, const struct paho_disconnect *)) \
    EACH(int, subscribe, (MQTTAsync, const char *filter, int quality, struct paho_response *)) \
    EACH(int, unsubscribe, (MQTTAsync, const char *filter, struct paho_response *)) \
    EACH(int, send, (MQTTAsync, const char *topic, int count, const void *bytes, int quality, int is_retained, \
                     struct paho_response *)) \
    EACH(void, setTraceCallback, (paho_on_trace *)) \
    EACH(void, setTraceLevel, (int level)) \
    EACH(void, destroy, (MQTTAsync *)) \
    EACH(void, freeMessage, (struct paho_message **)) \
    EACH(void, free, (void *))

#define PAHO_POINTER(result, name, arguments) result(*name) arguments;
struct paho_calls {
    PAHO_CALLS(PAHO_POINTER)
};
#undef PAHO_POINTER
extern struct paho_calls paho;

/// Why the library cannot be loaded, in a text that stays; null where it is loaded.
const char *paho_load(void);
