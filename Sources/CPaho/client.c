// One connection: the orders of its owner, the thread that carries them out, and the queue of what happened.
#include "CPaho.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "paho.h"
#include "screen.h"

/// Messages of quality 1 that the broker has not acknowledged; further ones wait.
enum { MOST_IN_FLIGHT = 128 };
/// Messages of quality 0 that the owner has not read, with their topics. Further ones are dropped, as that quality
/// permits.
enum { MOST_UNREAD = 1024, MOST_UNREAD_BYTES = 1 << 20 };
/// Messages without a tag that the thread has not sent; further ones are dropped.
enum { MOST_UNSENT = 1024 };
/// How long the end of a connection may last, and its wait for acknowledgements.
enum { CONNECT_SECONDS = 10, END_SECONDS = 2, FLUSH_SECONDS = 1, DISCONNECT_MS = 500 };
/// A broker's answer that refuses a subscription.
enum { SUBSCRIPTION_REFUSED = 0x80 };

enum order_kind { ORDER_CONNECT, ORDER_SUBSCRIBE, ORDER_UNSUBSCRIBE, ORDER_PUBLISH, ORDER_END };

struct order {
    struct order *next;
    enum order_kind kind;
    int quality;
    bool is_retained;
    uint64_t tag;
    size_t count;
    const uint8_t *bytes;
    char topic[];
};

struct queued_event {
    struct wake_mqtt_event event;
    struct queued_event *next;
    char storage[];
};

/// A message that is on its way; what Paho gives back says which connection and tag it had.
struct flight {
    struct wake_mqtt *connection;
    uint64_t tag;
    bool is_used;
};

/// What was asked of the broker; Paho gives it back with the answer.
struct subscription {
    struct subscription *next;
    struct wake_mqtt *connection;
    char filter[];
};

enum stage {
    STAGE_OPEN,
    /// Its owner waits for its end.
    STAGE_CLOSING,
    /// A thread of Paho holds a message that is not judged: nothing is freed.
    STAGE_PARKED,
    STAGE_ENDED,
};

struct wake_mqtt {
    pthread_mutex_t guard;
    /// Signalled when an order comes, a flight ends or the connection is lost.
    pthread_cond_t work;
    pthread_cond_t judgement;
    pthread_cond_t end;
    int bell;
    struct order *first_order, *last_order;
    struct queued_event *first_event, *last_event;
    size_t unread_loose, unread_loose_bytes, unsent;
    uint64_t arrivals, judged;
    /// Where the newest arrival came from; negative where that is unknown.
    int arrival_socket;
    bool is_connected;
    enum stage stage;
    struct flight flights[MOST_IN_FLIGHT];
    size_t used_flights;
    char tls_fault[160];
    struct wake_mqtt_options options;
    /// Of the connection's thread alone, as the subscriptions of the attempt are.
    MQTTAsync handle;
    struct subscription *subscriptions;
};

// MARK: Waiting

/// Timed waits use the monotonic clock, which cannot be set.
static void make_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

static struct timespec in_seconds(time_t seconds) {
    struct timespec then;
    clock_gettime(CLOCK_MONOTONIC, &then);
    then.tv_sec += seconds;
    return then;
}

// MARK: What happened

/// Copies the texts of `event` and queues it; without memory it is lost, as the process soon is.
static void post(struct wake_mqtt *connection, struct wake_mqtt_event event, const char *text, size_t text_count) {
    struct queued_event *queued = malloc(sizeof *queued + text_count + 1 + event.count);
    if (queued == NULL) return;
    memcpy(queued->storage, text, text_count);
    queued->storage[text_count] = 0;
    if (event.count > 0) memcpy(queued->storage + text_count + 1, event.bytes, event.count);
    event.text = queued->storage;
    event.text_count = text_count;
    event.bytes = (const uint8_t *) queued->storage + text_count + 1;
    queued->event = event;
    queued->next = NULL;
    if (connection->last_event == NULL) connection->first_event = queued;
    else connection->last_event->next = queued;
    connection->last_event = queued;
    uint64_t one = 1;
    if (write(connection->bell, &one, sizeof one) < 0) return;
}

static void post_text(struct wake_mqtt *connection, enum wake_mqtt_what what, int code, const char *text) {
    if (text == NULL) text = "";
    struct wake_mqtt_event event = {.what = what, .code = code};
    pthread_mutex_lock(&connection->guard);
    if (what != WAKE_MQTT_CONNECTED) connection->is_connected = false;
    post(connection, event, text, strlen(text));
    pthread_cond_broadcast(&connection->work);
    pthread_mutex_unlock(&connection->guard);
}

struct wake_mqtt_event *wake_mqtt_next(struct wake_mqtt *connection) {
    pthread_mutex_lock(&connection->guard);
    struct queued_event *oldest = connection->first_event;
    if (oldest == NULL) {
        uint64_t rung;
        if (read(connection->bell, &rung, sizeof rung) < 0) errno = 0;
    } else {
        connection->first_event = oldest->next;
        if (oldest->next == NULL) connection->last_event = NULL;
        if (oldest->event.what == WAKE_MQTT_ARRIVED && oldest->event.number == 0) {
            connection->unread_loose--;
            connection->unread_loose_bytes -= oldest->event.text_count + oldest->event.count;
        }
    }
    pthread_mutex_unlock(&connection->guard);
    return oldest == NULL ? NULL : &oldest->event;
}

void wake_mqtt_release(struct wake_mqtt_event *event) { free(event); }

// MARK: Called by Paho, on its threads

static void on_connected(void *context, struct paho_success *success) {
    struct wake_mqtt *connection = context;
    struct wake_mqtt_event event = {.what = WAKE_MQTT_CONNECTED};
    event.is_session_present = success != NULL && success->of.connect.is_session_present;
    pthread_mutex_lock(&connection->guard);
    connection->is_connected = true;
    post(connection, event, "", 0);
    pthread_mutex_unlock(&connection->guard);
}

static void on_refused(void *context, struct paho_failure *failure) {
    struct wake_mqtt *connection = context;
    const char *reason = screen_fault();
    if (reason == NULL && failure != NULL) reason = failure->message;
    if (connection->tls_fault[0] != 0) reason = connection->tls_fault;
    post_text(connection, WAKE_MQTT_REFUSED, failure == NULL ? -1 : failure->code, reason);
}

static void on_lost(void *context, char *cause) {
    const char *reason = screen_fault();
    post_text(context, WAKE_MQTT_LOST, 0, reason == NULL ? cause : reason);
}

/// Keeps the first thing that OpenSSL says of an attempt: what follows only repeats that it failed.
static int on_tls_fault(const char *text, size_t count, void *context) {
    struct wake_mqtt *connection = context;
    if (connection->tls_fault[0] != 0) return 1;
    size_t kept = 0;
    while (kept < count && kept + 1 < sizeof connection->tls_fault && text[kept] != '\n') kept++;
    memcpy(connection->tls_fault, text, kept);
    connection->tls_fault[kept] = 0;
    return 1;
}

static void land(struct flight *flight, bool is_delivered) {
    struct wake_mqtt *connection = flight->connection;
    pthread_mutex_lock(&connection->guard);
    if (flight->is_used) {
        flight->is_used = false;
        connection->used_flights--;
        struct wake_mqtt_event event = {.what = WAKE_MQTT_DELIVERED, .number = flight->tag};
        if (is_delivered && flight->tag != 0) post(connection, event, "", 0);
        pthread_cond_broadcast(&connection->work);
    }
    pthread_mutex_unlock(&connection->guard);
}

static void on_delivered(void *context, struct paho_success *success) { (void) success; land(context, true); }
static void on_undelivered(void *context, struct paho_failure *failure) { (void) failure; land(context, false); }

static void on_disconnected(void *context) {
    struct wake_mqtt *connection = context;
    pthread_mutex_lock(&connection->guard);
    connection->is_connected = false;
    pthread_cond_broadcast(&connection->work);
    pthread_mutex_unlock(&connection->guard);
}

static void on_disconnect(void *context, struct paho_success *success) { (void) success; on_disconnected(context); }
static void on_no_disconnect(void *context, struct paho_failure *failure) { (void) failure; on_disconnected(context); }

static void on_subscription_refused(void *context, struct paho_failure *failure) {
    struct subscription *refused = context;
    if (failure == NULL || failure->code != SUBSCRIPTION_REFUSED) return;
    struct wake_mqtt_event event = {.what = WAKE_MQTT_NOT_SUBSCRIBED, .code = failure->code};
    pthread_mutex_lock(&refused->connection->guard);
    post(refused->connection, event, refused->filter, strlen(refused->filter));
    pthread_mutex_unlock(&refused->connection->guard);
}

static void on_unsubscribed(void *context, struct paho_success *success) {
    struct subscription *ended = context;
    (void) success;
    struct wake_mqtt_event event = {.what = WAKE_MQTT_UNSUBSCRIBED};
    pthread_mutex_lock(&ended->connection->guard);
    post(ended->connection, event, ended->filter, strlen(ended->filter));
    pthread_mutex_unlock(&ended->connection->guard);
}

/// Of the message that a thread of Paho delivers next; negative where it is unknown.
static _Thread_local int traced_socket = -1;

/// Paho tells sockets in its trace alone, and a packet right before its message is delivered on the same thread:
/// `19700101 000000.000 7 wakebridge-pi-inbox <- PUBLISH msgid: 1 qos: 1`.
static void on_trace(int level, char *line) {
    (void) level;
    int socket = -1, end = 0;
    bool is_arrival = line != NULL && sscanf(line, "%*d %*d.%*d %d %*[^<]<- PUBLISH %n", &socket, &end) == 1;
    traced_socket = is_arrival && end > 0 ? socket : -1;
}

/// Waits for the owner's judgement of a message: when this returns, Paho acknowledges it.
/// At the end of a lasting session what is not judged must not be acknowledged: its thread stays until the process ends.
static void await_judgement(struct wake_mqtt *connection, uint64_t number) {
    while (connection->judged < number) {
        if (connection->stage != STAGE_OPEN) {
            if (!connection->options.keeps_session) return;
            connection->stage = STAGE_PARKED;
            pthread_cond_broadcast(&connection->end);
        }
        pthread_cond_wait(&connection->judgement, &connection->guard);
    }
}

/// What of a message is copied: of a longer one than the owner takes, one byte more, by which it is known.
static size_t copied_count(const struct wake_mqtt *connection, const struct paho_message *message) {
    size_t count = message->count < 0 ? 0 : (size_t) message->count;
    size_t longest = connection->options.longest_message;
    return count > longest ? longest + 1 : count;
}

/// A packet body of this length (topic, identifier and message) is almost certainly the beginning of a longer one.
static bool is_cut(const struct paho_message *message, size_t topic_count) {
    return 2 + topic_count + (message->quality > 0 ? 2 : 0) + (size_t) message->count == LONGEST_BODY;
}

static int on_message(void *context, char *topic, int topic_count, struct paho_message *message) {
    struct wake_mqtt *connection = context;
    size_t length = topic_count > 0 ? (size_t) topic_count : strlen(topic);
    struct wake_mqtt_event event = {
        .what = WAKE_MQTT_ARRIVED, .bytes = message->bytes, .count = copied_count(connection, message),
        .quality = message->quality, .is_retained = message->is_retained != 0,
        .is_duplicate = message->is_duplicate != 0, .is_cut = is_cut(message, length),
    };
    pthread_mutex_lock(&connection->guard);
    bool is_judged = message->quality > 0;
    if (is_judged) {
        event.number = ++connection->arrivals;
        connection->arrival_socket = traced_socket;
    }
    bool has_room = connection->unread_loose < MOST_UNREAD &&
                    connection->unread_loose_bytes + length + event.count <= MOST_UNREAD_BYTES;
    if (!is_judged && has_room) {
        connection->unread_loose++;
        connection->unread_loose_bytes += length + event.count;
    }
    if (is_judged || has_room) {
        post(connection, event, topic, length);
    }
    if (is_judged) await_judgement(connection, event.number);
    pthread_mutex_unlock(&connection->guard);
    paho.freeMessage(&message);
    paho.free(topic);
    return 1;
}

// MARK: On the connection's own thread

static void forget_flights(struct wake_mqtt *connection) {
    pthread_mutex_lock(&connection->guard);
    for (size_t at = 0; at < MOST_IN_FLIGHT; at++) connection->flights[at].is_used = false;
    connection->used_flights = 0;
    pthread_mutex_unlock(&connection->guard);
}

/// Only where Paho knows none of them any more.
static void forget_subscriptions(struct wake_mqtt *connection) {
    for (struct subscription *next; connection->subscriptions != NULL; connection->subscriptions = next) {
        next = connection->subscriptions->next;
        free(connection->subscriptions);
    }
}

static struct paho_tls tls_options(struct wake_mqtt *connection) {
    const struct wake_mqtt_options *options = &connection->options;
    return (struct paho_tls){
        .mark = "MQTS", .version = 4, .authority = options->authority, .certificate = options->certificate,
        .key = options->key, .verifies_certificate = 1, .verifies_name = 1, .on_fault = on_tls_fault,
        .fault_context = connection, .trusts_authority_alone = options->authority != NULL,
    };
}

static void trace_packets(void) {
    paho.setTraceCallback(on_trace);
    paho.setTraceLevel(PAHO_TRACE_PACKETS);
}

/// Makes a new client for every attempt, so that Paho sends nothing again by itself: it would not be marked.
static int begin_attempt(struct wake_mqtt *connection) {
    const struct wake_mqtt_options *options = &connection->options;
    if (connection->handle != NULL) paho.destroy(&connection->handle);
    forget_flights(connection);
    forget_subscriptions(connection);
    connection->tls_fault[0] = 0;
    int code = paho.create(
        &connection->handle, options->address, options->client_identifier, PAHO_NO_PERSISTENCE, NULL);
    if (code != PAHO_SUCCESS) return code;
    paho.setCallbacks(connection->handle, connection, on_lost, on_message, NULL);
    struct paho_will will = {
        .mark = "MQTW", .topic = options->will_topic, .text = options->will_text, .is_retained = 1, .quality = 1,
    };
    struct paho_tls tls = tls_options(connection);
    struct paho_connect connect = {
        .mark = "MQTC", .version = 3, .keep_alive_seconds = options->keep_alive_seconds,
        .is_clean = !options->keeps_session, .most_in_flight = MOST_IN_FLIGHT, .user = options->user,
        .password = options->password, .timeout_seconds = CONNECT_SECONDS, .on_success = on_connected,
        .on_failure = on_refused, .context = connection, .protocol = PAHO_MQTT_3_1_1,
    };
    if (options->will_topic != NULL) connect.will = &will;
    if (strncmp(options->address, "ssl://", 6) == 0) connect.tls = &tls;
    return paho.connect(connection->handle, &connect);
}

static void attempt(struct wake_mqtt *connection) {
    const char *fault = paho_load();
    if (fault != NULL) return post_text(connection, WAKE_MQTT_ABSENT, 0, fault);
    static pthread_once_t tracing = PTHREAD_ONCE_INIT;
    pthread_once(&tracing, trace_packets);
    int code = begin_attempt(connection);
    if (code != PAHO_SUCCESS) post_text(connection, WAKE_MQTT_REFUSED, code, connection->tls_fault);
}

/// A free flight; null where the connection is lost before there is one.
static struct flight *take_off(struct wake_mqtt *connection, uint64_t tag) {
    struct flight *found = NULL;
    pthread_mutex_lock(&connection->guard);
    while (connection->is_connected && connection->used_flights == MOST_IN_FLIGHT) {
        pthread_cond_wait(&connection->work, &connection->guard);
    }
    for (size_t at = 0; connection->is_connected && at < MOST_IN_FLIGHT && found == NULL; at++) {
        if (!connection->flights[at].is_used) found = &connection->flights[at];
    }
    if (found != NULL) {
        *found = (struct flight){.connection = connection, .tag = tag, .is_used = true};
        connection->used_flights++;
    }
    pthread_mutex_unlock(&connection->guard);
    return found;
}

/// Null where there is no attempt yet, or no memory.
static struct subscription *make_subscription(struct wake_mqtt *connection, const char *filter) {
    if (connection->handle == NULL) return NULL;
    size_t length = strlen(filter);
    struct subscription *made = malloc(sizeof *made + length + 1);
    if (made == NULL) return NULL;
    *made = (struct subscription){.next = connection->subscriptions, .connection = connection};
    memcpy(made->filter, filter, length + 1);
    connection->subscriptions = made;
    return made;
}

static void subscribe(struct wake_mqtt *connection, const struct order *order) {
    struct subscription *made = make_subscription(connection, order->topic);
    if (made == NULL) return;
    struct paho_response response = {.mark = "MQTR", .on_failure = on_subscription_refused, .context = made};
    paho.subscribe(connection->handle, made->filter, order->quality, &response);
}

static void unsubscribe(struct wake_mqtt *connection, const struct order *order) {
    struct subscription *ended = make_subscription(connection, order->topic);
    if (ended == NULL) return;
    struct paho_response response = {.mark = "MQTR", .on_success = on_unsubscribed, .context = ended};
    paho.unsubscribe(connection->handle, ended->filter, &response);
}

static void publish(struct wake_mqtt *connection, const struct order *order) {
    if (connection->handle == NULL) return;
    struct flight *flight = order->quality > 0 ? take_off(connection, order->tag) : NULL;
    if (order->quality > 0 && flight == NULL) return;
    struct paho_response response = {
        .mark = "MQTR", .on_success = on_delivered, .on_failure = on_undelivered, .context = flight,
    };
    int code = paho.send(
        connection->handle, order->topic, (int) order->count, order->bytes, order->quality, order->is_retained,
        flight == NULL ? NULL : &response);
    if (code != PAHO_SUCCESS && flight != NULL) land(flight, false);
}

/// Waits, for a limited time, until all that was published is acknowledged, and then until the broker knows of the end.
static void disconnect(struct wake_mqtt *connection) {
    if (connection->handle == NULL) return;
    struct timespec limit = in_seconds(FLUSH_SECONDS);
    pthread_mutex_lock(&connection->guard);
    while (connection->is_connected && connection->used_flights > 0) {
        if (pthread_cond_timedwait(&connection->work, &connection->guard, &limit) != 0) break;
    }
    bool is_connected = connection->is_connected;
    pthread_mutex_unlock(&connection->guard);
    struct paho_disconnect options = {
        .mark = "MQTD", .timeout_ms = DISCONNECT_MS, .on_success = on_disconnect, .on_failure = on_no_disconnect,
        .context = connection,
    };
    if (is_connected && paho.disconnect(connection->handle, &options) == PAHO_SUCCESS) {
        pthread_mutex_lock(&connection->guard);
        while (connection->is_connected) {
            if (pthread_cond_timedwait(&connection->work, &connection->guard, &limit) != 0) break;
        }
        pthread_mutex_unlock(&connection->guard);
    }
    paho.destroy(&connection->handle);
}

/// A message without a tag may be lost, and its owner may publish any number of them.
static bool is_droppable(const struct order *order) {
    return order->kind == ORDER_PUBLISH && order->tag == 0 && !order->is_retained;
}

static struct order *next_order(struct wake_mqtt *connection) {
    pthread_mutex_lock(&connection->guard);
    while (connection->first_order == NULL) pthread_cond_wait(&connection->work, &connection->guard);
    struct order *oldest = connection->first_order;
    connection->first_order = oldest->next;
    if (oldest->next == NULL) connection->last_order = NULL;
    if (is_droppable(oldest)) connection->unsent--;
    pthread_mutex_unlock(&connection->guard);
    return oldest;
}

static void *carry_out(void *context) {
    struct wake_mqtt *connection = context;
    for (bool goes_on = true; goes_on;) {
        struct order *order = next_order(connection);
        switch (order->kind) {
        case ORDER_CONNECT: attempt(connection); break;
        case ORDER_SUBSCRIBE: subscribe(connection, order); break;
        case ORDER_UNSUBSCRIBE: unsubscribe(connection, order); break;
        case ORDER_PUBLISH: publish(connection, order); break;
        case ORDER_END: goes_on = false; break;
        }
        free(order);
    }
    disconnect(connection);
    pthread_mutex_lock(&connection->guard);
    if (connection->stage != STAGE_PARKED) connection->stage = STAGE_ENDED;
    pthread_cond_broadcast(&connection->end);
    pthread_mutex_unlock(&connection->guard);
    return NULL;
}

// MARK: Called by the owner

static void append(struct wake_mqtt *connection, struct order *made) {
    if (connection->last_order == NULL) connection->first_order = made;
    else connection->last_order->next = made;
    connection->last_order = made;
    if (is_droppable(made)) connection->unsent++;
    pthread_cond_broadcast(&connection->work);
}

static bool order(struct wake_mqtt *connection, struct order wanted, const char *topic, const void *bytes) {
    size_t length = strlen(topic);
    struct order *made = malloc(sizeof *made + length + 1 + wanted.count);
    if (made == NULL) return false;
    *made = wanted;
    memcpy(made->topic, topic, length + 1);
    if (wanted.count > 0) memcpy(made->topic + length + 1, bytes, wanted.count);
    made->bytes = (const uint8_t *) made->topic + length + 1;
    pthread_mutex_lock(&connection->guard);
    bool is_dropped = is_droppable(made) && connection->unsent == MOST_UNSENT;
    if (!is_dropped) append(connection, made);
    pthread_mutex_unlock(&connection->guard);
    if (is_dropped) free(made);
    return !is_dropped;
}

static const char *copy(const char *text) { return text == NULL ? NULL : strdup(text); }

static void copy_options(struct wake_mqtt_options *to, const struct wake_mqtt_options *from) {
    *to = *from;
    to->address = copy(from->address);
    to->client_identifier = copy(from->client_identifier);
    to->user = copy(from->user);
    to->password = copy(from->password);
    to->authority = copy(from->authority);
    to->certificate = copy(from->certificate);
    to->key = copy(from->key);
    to->will_topic = copy(from->will_topic);
    to->will_text = copy(from->will_text);
}

static void free_options(struct wake_mqtt_options *options) {
    const char *texts[] = {
        options->address, options->client_identifier, options->user, options->password, options->authority,
        options->certificate, options->key, options->will_topic, options->will_text,
    };
    for (size_t at = 0; at < sizeof texts / sizeof *texts; at++) free((void *) texts[at]);
}

/// The thread, and those that Paho makes from it, get none of the process's signals.
static int begin_thread(struct wake_mqtt *connection) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int failure = pthread_create(&thread, NULL, carry_out, connection);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure == 0) pthread_detach(thread);
    return failure;
}

static void release(struct wake_mqtt *connection) {
    for (struct order *next; connection->first_order != NULL; connection->first_order = next) {
        next = connection->first_order->next;
        free(connection->first_order);
    }
    for (struct queued_event *next; connection->first_event != NULL; connection->first_event = next) {
        next = connection->first_event->next;
        free(connection->first_event);
    }
    forget_subscriptions(connection);
    free_options(&connection->options);
    close(connection->bell);
    free(connection);
}

struct wake_mqtt *wake_mqtt_make(const struct wake_mqtt_options *options) {
    struct wake_mqtt *connection = calloc(1, sizeof *connection);
    if (connection == NULL) return NULL;
    connection->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (connection->bell < 0) {
        free(connection);
        return NULL;
    }
    pthread_mutex_init(&connection->guard, NULL);
    make_condition(&connection->work);
    make_condition(&connection->judgement);
    make_condition(&connection->end);
    copy_options(&connection->options, options);
    int failure = begin_thread(connection);
    if (failure == 0) return connection;
    release(connection);
    errno = failure;
    return NULL;
}

int wake_mqtt_descriptor(const struct wake_mqtt *connection) { return connection->bell; }

bool wake_mqtt_connect(struct wake_mqtt *connection) {
    return order(connection, (struct order){.kind = ORDER_CONNECT}, "", NULL);
}

bool wake_mqtt_subscribe(struct wake_mqtt *connection, const char *filter, int quality) {
    return order(connection, (struct order){.kind = ORDER_SUBSCRIBE, .quality = quality}, filter, NULL);
}

bool wake_mqtt_unsubscribe(struct wake_mqtt *connection, const char *filter) {
    return order(connection, (struct order){.kind = ORDER_UNSUBSCRIBE}, filter, NULL);
}

bool wake_mqtt_publish(struct wake_mqtt *connection, const char *topic, const void *bytes, size_t count, int quality,
                       bool is_retained, uint64_t tag) {
    struct order wanted = {
        .kind = ORDER_PUBLISH, .quality = quality, .is_retained = is_retained, .tag = tag, .count = count,
    };
    return order(connection, wanted, topic, bytes);
}

void wake_mqtt_acknowledge(struct wake_mqtt *connection, uint64_t number) {
    pthread_mutex_lock(&connection->guard);
    if (number > connection->judged) connection->judged = number;
    pthread_cond_broadcast(&connection->judgement);
    pthread_mutex_unlock(&connection->guard);
}

/// The thread that waits for the judgement holds Paho's mutex, so that the socket is still this one.
bool wake_mqtt_refuse(struct wake_mqtt *connection, uint64_t number) {
    pthread_mutex_lock(&connection->guard);
    bool is_awaited = number == connection->arrivals && number > connection->judged && connection->arrival_socket >= 0;
    bool is_refused = is_awaited && (shutdown(connection->arrival_socket, SHUT_RDWR) == 0 || errno == ENOTCONN);
    if (is_refused) {
        connection->judged = number;
        pthread_cond_broadcast(&connection->judgement);
    }
    pthread_mutex_unlock(&connection->guard);
    return is_refused;
}

void wake_mqtt_end(struct wake_mqtt *connection) {
    bool is_ordered = order(connection, (struct order){.kind = ORDER_END}, "", NULL);
    struct timespec limit = in_seconds(END_SECONDS);
    pthread_mutex_lock(&connection->guard);
    if (connection->stage == STAGE_OPEN) connection->stage = STAGE_CLOSING;
    pthread_cond_broadcast(&connection->judgement);
    while (is_ordered && connection->stage == STAGE_CLOSING) {
        if (pthread_cond_timedwait(&connection->end, &connection->guard, &limit) != 0) break;
    }
    bool has_ended = connection->stage == STAGE_ENDED;
    pthread_mutex_unlock(&connection->guard);
    // What a thread still holds lasts as long as the process.
    if (has_ended) release(connection);
}
