// A handler for the break test: keeps its own record of all it was given and did, and behaves as the file of its mood says.
// It shares nothing with the bridge: what it knows of the protocol is what any program would know. In C, so that ten thousand
// events a second cost the machine little beside the bridge.
//
//   handler NAME FOLDER           reads events, writes FOLDER/heard-NAME.PID, looks at FOLDER/mood-NAME
//   handler --contend FILE        waits for an exclusive lock on the file, and prints how many seconds that took
//
// The record, times monotonic in seconds:  P daemon time  |  E time id seq attempt redelivered device kind content
// |  S time seq (about to acknowledge)  |  A time seq (acknowledged)  |  R time seq (refused)  |  N time notice reason
// |  B time (awake, and owes)  |  M time mood  |  X time (leaves)  |  L time since (what follows is read only now, and may have been
// there since then)
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *name, *folder;
static int record = -1;
static char mood[32] = "good";
static unsigned long owed;          // the newest event that was not answered; 0 for none
static int has_misbehaved;          // in this mood
static int voice = 3;               // -1 once it is closed: the next file that is opened gets the number
static double emptied;              // when there was nothing to read, as far as it was looked
static int is_late;                 // what was read last had waited
static char text[1 << 20];          // lines of the record that are not written yet
static size_t length;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void flush(void) {
    for (size_t done = 0; done < length;) {
        ssize_t count = write(record, text + done, length - done);
        if (count < 0 && errno != EINTR) break;
        if (count > 0) done += (size_t)count;
    }
    length = 0;
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    if (length > sizeof text - 8192) flush();
    va_list rest;
    va_start(rest, format);
    int count = vsnprintf(text + length, 8192, format, rest);
    va_end(rest);
    length += (size_t)(count < 8192 ? count : 8191);
}

static int say(const char *line) {
    size_t size = strlen(line), done = 0;
    while (done < size) {
        ssize_t count = write(voice, line + done, size - done);
        if (count < 0 && errno != EINTR) return 0;
        if (count > 0) done += (size_t)count;
    }
    return 1;
}

// MARK: Reading a line

// The text of a member as the bridge writes it, without spaces; empty where there is none.
static void member(const char *line, const char *key, char *value, size_t size) {
    value[0] = 0;
    const char *place = strstr(line, key);
    if (!place) return;
    place += strlen(key);
    const char *ends = *place == '"' ? "\"" : ",}";
    if (*place == '"') place++;
    size_t count = strcspn(place, ends);
    if (count >= size) count = size - 1;
    memcpy(value, place, count);
    value[count] = 0;
}

static void hear_gap(const char *line, char *content, size_t size) {
    char cause[32], first[24], last[24], count[24];
    member(line, "\"cause\":", cause, sizeof cause);
    member(line, "\"count\":", count, sizeof count);
    member(line, "\"first_seq\":", first, sizeof first);
    member(line, "\"last_seq\":", last, sizeof last);
    snprintf(content, size, "%s %s %s %s", cause, count[0] ? count : "-", first[0] ? first : "-", last[0] ? last : "-");
}

static void hear(const char *line) {
    char id[64], seq[24], type[64], device[64], attempt[16], content[4096] = "-";
    member(line, "\"id\":", id, sizeof id);
    member(line, "\"type\":", type, sizeof type);
    member(line, "\"seq\":", seq, sizeof seq);
    const char *data = strstr(line, "\"data\":");
    if (!seq[0] || !data) {
        char reason[64];
        member(line, "\"reason\":", reason, sizeof reason);
        note("N %.6f %s %s\n", now(), type, reason[0] ? reason : "-");
        return;
    }
    member(line, "\"subject\":", device, sizeof device);
    member(line, "\"attempt\":", attempt, sizeof attempt);
    const char *kind = strncmp(type, "wakebridge.device.", 18) ? type : type + 18;
    if (!strcmp(kind, "data")) member(data, "\"raw\":", content, sizeof content);
    if (!strcmp(kind, "disconnected")) member(data, "\"reason\":", content, sizeof content);
    if (!strcmp(kind, "gap")) hear_gap(data, content, sizeof content);
    const char *again = strstr(line, "\"redelivered\":true");
    note("E %.6f %s %s %s %d %s %s %s\n", now(), id, seq, attempt, again && again < data, device, kind, content);
    owed = strtoul(seq, NULL, 10);
}

// MARK: Manners

// A hundred processes that have left their parent, their session and their group, and make each other; at most 300 in all.
static void bomb(void) {
    int *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED || fork()) return;
    close(0); close(1); close(2); close(3);
    setsid();
    while (__atomic_add_fetch(made, 1, __ATOMIC_RELAXED) < 300)
        if (fork() < 0) break;
    pause();
    _exit(0);
}

// Takes memory until nobody gives it more: its cgroup where that has a limit, and in any case a limit of its own.
static void eat(void) {
    struct rlimit limit = {512 << 20, 512 << 20};
    setrlimit(RLIMIT_AS, &limit);
    for (;;) {
        char *piece = malloc(8 << 20);
        if (!piece) abort();
        memset(piece, 1, 8 << 20);
    }
}

static void leave_grandchild(void) {
    pid_t child = fork();
    if (child > 0) waitpid(child, NULL, 0);
    if (child) return;
    setsid();
    if (fork()) _exit(0);
    close(0); close(1); close(2); close(3);
    for (;;) pause();
}

// Eight megabytes of lines, and two of one that does not end.
static void chat(void) {
    static char line[1024];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    for (int count = 0; count < 8192; count++)
        if (write(1 + (count & 1), line, sizeof line) < 0) return;
    for (int count = 0; count < 2048; count++)
        if (write(2, line, sizeof line - 1) < 0) return;
}

static void flood(void) {
    static const char *const words[] = {
        "garbage\n", "{\"akc\":1}\n", "{\"ack\":1,\"nack\":2}\n", "[]\n", "{\n", "{\"ack\":999999999999}\n", "{\"end\":\"never\"}\n"};
    for (int count = 0; count < 400; count++) say(words[count % 7]);
}

static void lock(void) {
    char path[512];
    snprintf(path, sizeof path, "%s/lock-%s", folder, name);
    // Open for the life of the process: closing it would let go of the lock.
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file >= 0) flock(file, LOCK_EX | LOCK_NB);
}

static int is(const char *word) { return !strcmp(mood, word); }

static void misbehave(void) {
    if (has_misbehaved) return;
    has_misbehaved = 1;
    if (is("crash")) abort();
    if (is("bomb")) bomb();
    if (is("eat")) eat();
    if (is("fork")) leave_grandchild();
    if (is("chat")) chat();
    if (is("flood")) flood();
    if (is("lock")) lock();
    if (is("close")) (close(voice), voice = -1);
    if (is("stubborn")) signal(SIGTERM, SIG_IGN);
}

// The mood is a file, so that who injects faults needs nothing of ours to run.
static void look(void) {
    char path[512], word[32] = "good";
    snprintf(path, sizeof path, "%s/mood-%s", folder, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        ssize_t count = read(file, word, sizeof word - 1);
        word[count > 0 ? count : 0] = 0;
        close(file);
    }
    if (!strcmp(word, mood)) return;
    strcpy(mood, word);
    has_misbehaved = 0;
    note("M %.6f %s\n", now(), mood);
}

static void answer(void) {
    char line[64];
    if (!owed || voice < 0 || is("mute") || is("deaf")) {
        flush();
        return;
    }
    const char *verb = is("nack") ? "nack" : "ack";
    // A kill may come between the word and its record.
    if (!is("nack")) note("S %.6f %lu\n", now(), owed);
    flush();
    snprintf(line, sizeof line, is("nack") ? "{\"%s\":%lu,\"after_s\":0.2}\n" : "{\"%s\":%lu}\n", verb, owed);
    if (!say(line)) return;
    note("%c %.6f %lu\n", is("nack") ? 'R' : 'A', now(), owed);
    flush();
    owed = 0;
}

// MARK: Running

// What is read is recorded before anything is done about it.
static void take(char *bytes, size_t *filled) {
    char *line = bytes, *end;
    size_t left = *filled;
    while ((end = memchr(line, '\n', left))) {
        *end = 0;
        hear(line);
        // What is refused is refused one by one: an answer names one event.
        if (is("nack")) answer();
        left -= (size_t)(end + 1 - line);
        line = end + 1;
    }
    memmove(bytes, line, left);
    *filled = left;
    flush();
}

// For how long others had the processor while this program could have run.
static double queued(void) {
    static int file = -1;
    char line[128];
    if (file < 0) file = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t count = pread(file, line, sizeof line - 1, 0);
    line[count > 0 ? count : 0] = 0;
    unsigned long long ran, waited = 0;
    return sscanf(line, "%llu %llu", &ran, &waited) == 2 ? (double)waited / 1e9 : 0;
}

// Waits for something to read, where that is wanted at all; since when it may have been there is known afterwards.
static int await(double *since) {
    int is_deaf = is("deaf");
    struct pollfd input = {.fd = is_deaf ? -1 : 0, .events = POLLIN};
    *since = emptied;
    int ready = poll(&input, 1, 0);
    if (ready) return ready;
    double before = queued();
    if (!is_deaf) emptied = now();
    ready = poll(&input, 1, owed || is_deaf ? 50 : -1);
    *since = now() - (queued() - before);
    return ready;
}

static void note_lateness(double since) {
    double time = now();
    int was_late = is_late;
    is_late = time - since > 0.002;
    if (is_late || was_late) note("L %.6f %.6f\n", time, since);
}

// The end of a oneshot's batch: leaving in order acknowledges what is left of it.
static int end(void) {
    note("X %.6f\n", now());
    flush();
    return 0;
}

static int run(void) {
    static char bytes[1 << 20];
    size_t filled = 0;
    for (;;) {
        look();
        double since;
        int ready = await(&since);
        if (ready < 0) continue;
        if (ready == 0) {
            note("B %.6f\n", now());
            look();
            answer();
            continue;
        }
        double time = now();
        size_t room = sizeof bytes - 1 - filled;
        ssize_t count = read(0, bytes + filled, room);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return end();
        if ((size_t)count < room) emptied = time;
        filled += (size_t)count;
        note_lateness(since);
        look();
        take(bytes, &filled);
        misbehave();
        answer();
    }
}

static int contend(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    double start = now();
    while (flock(file, LOCK_EX) < 0 && errno == EINTR) {}
    printf("%.3f\n", now() - start);
    return 0;
}

int main(int count, char **words) {
    if (count == 3 && !strcmp(words[1], "--contend")) return contend(words[2]);
    if (count < 3) return 2;
    (name = words[1], folder = words[2]);
    char path[512];
    snprintf(path, sizeof path, "%s/heard-%s.%d", folder, name, getpid());
    record = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (record < 0) return 1;
    emptied = now();
    note("P %d %.6f\n", getppid(), now());
    // A first word on descriptor 3: from here on a death is this program's own.
    say("{\"remaining\":true,\"ref\":1}\n");
    return run();
}
