// Eclipse Paho C for Swift: a connection to an MQTT broker that gets its orders from one thread and queues what happened.
// The library is loaded when the first connection is opened. What is used of it is declared in paho.h, so that no header
// of it is needed where this is compiled.
// Paho calls back on its own threads, and holds its one mutex meanwhile. So a thread of each connection calls it, and
// never the thread that owns the connection.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The most bytes of one message, without its topic, that are read into memory.
enum { WAKE_MQTT_LONGEST_MESSAGE = 1 << 20 };

/// The settings of a connection. All texts are copied; absent ones are null.
struct wake_mqtt_options {
    /// `tcp://host:port` or `ssl://host:port`.
    const char *address;
    const char *client_identifier;
    const char *user;
    const char *password;
    /// PEM files. Without an authority those of the system are trusted.
    const char *authority;
    const char *certificate;
    const char *key;
    /// Published by the broker, retained, when the connection ends without a word.
    const char *will_topic;
    const char *will_text;
    int keep_alive_seconds;
    /// A longer message arrives cut to one byte more than this. At most WAKE_MQTT_LONGEST_MESSAGE.
    size_t longest_message;
    /// Whether the broker queues messages of quality 1 while this client is away.
    bool keeps_session;
};

enum wake_mqtt_what {
    WAKE_MQTT_CONNECTED,
    /// The library cannot be loaded: `text` says why.
    WAKE_MQTT_ABSENT,
    /// An attempt failed: `code` is the broker's (1 to 5), or negative of the library, and `text` may say more.
    WAKE_MQTT_REFUSED,
    WAKE_MQTT_LOST,
    /// The broker has acknowledged the message with `tag`.
    WAKE_MQTT_DELIVERED,
    WAKE_MQTT_ARRIVED,
    /// The broker refuses the subscription to the filter `text`.
    WAKE_MQTT_NOT_SUBSCRIBED,
    /// The broker has ended the subscription to the filter `text`.
    WAKE_MQTT_UNSUBSCRIBED,
};

struct wake_mqtt_event {
    enum wake_mqtt_what what;
    int code;
    /// Of WAKE_MQTT_DELIVERED the tag, of WAKE_MQTT_ARRIVED what wake_mqtt_acknowledge() gets, or zero.
    uint64_t number;
    /// The topic of a message, or a reason; never null.
    const char *text;
    size_t text_count;
    const uint8_t *bytes;
    size_t count;
    int quality;
    bool is_retained;
    bool is_duplicate;
    /// The message is longer than any connection reads into memory, whatever `longest_message` is.
    bool is_cut;
    /// With WAKE_MQTT_CONNECTED: whether the broker knew this client.
    bool is_session_present;
};

struct wake_mqtt;

/// Loads the library; says why that fails, or is null.
const char *wake_mqtt_fault_of_library(void);

/// A connection that is not open yet; null, with errno, where its descriptor or its thread cannot be made.
struct wake_mqtt *wake_mqtt_make(const struct wake_mqtt_options *options);
/// Readable while events wait.
int wake_mqtt_descriptor(const struct wake_mqtt *connection);
/// The oldest event, for wake_mqtt_release(); null where there is none.
struct wake_mqtt_event *wake_mqtt_next(struct wake_mqtt *connection);
void wake_mqtt_release(struct wake_mqtt_event *event);

/// Begins one attempt to connect. What an earlier connection left unacknowledged is forgotten.
bool wake_mqtt_connect(struct wake_mqtt *connection);
bool wake_mqtt_subscribe(struct wake_mqtt *connection, const char *filter, int quality);
bool wake_mqtt_unsubscribe(struct wake_mqtt *connection, const char *filter);
/// Publishes a copy of `bytes`; with a tag of zero no event says that it was delivered, and while very many such ones
/// wait it is dropped, unless it is retained.
bool wake_mqtt_publish(struct wake_mqtt *connection, const char *topic, const void *bytes, size_t count, int quality,
                       bool is_retained, uint64_t tag);
/// The broker gets its acknowledgement of a message. Until then no other one arrives, on any connection.
void wake_mqtt_acknowledge(struct wake_mqtt *connection, uint64_t number);
/// Ends the connection, so that the broker gets no acknowledgement of a message and sends it again over the next one.
/// False where Paho does not say which socket it is: the message waits for its acknowledgement.
bool wake_mqtt_refuse(struct wake_mqtt *connection, uint64_t number);
/// Sends what was ordered, disconnects and frees everything, within two seconds or never: a message that is not
/// acknowledged by then keeps Paho's thread, and stays unacknowledged.
void wake_mqtt_end(struct wake_mqtt *connection);
