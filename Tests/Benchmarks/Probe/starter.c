// A program started for each event, as udev's RUN and a systemd template start one.
#define _GNU_SOURCE
#include "benchmark_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char line[] = "{\"source\":\"/bluetooth/C0:F1:F2:F3:F4:01\",\"characteristic\":\"2a37\",\"raw\":\"163cf803\"}\n";
static char *const environment[] = {"PATH=/usr/bin:/bin", "ACTION=change", "SUBSYSTEM=tty", NULL};

static int start(char *const words[], int input, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    int code = posix_spawn(child, words[0], &actions, NULL, words, environment);
    posix_spawn_file_actions_destroy(&actions);
    return -code;
}

static int handle(char *const words[])
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    pid_t child = 0;
    int code = write(ends[1], line, sizeof line - 1) < 0 ? -errno : start(words, ends[0], &child);
    close(ends[0]);
    close(ends[1]);
    if (code < 0)
        return code;
    return waitpid(child, NULL, 0) < 0 ? -errno : 0;
}

int benchmark_start_each(int source, char *const words[])
{
    for (;;) {
        char bytes[256];
        ssize_t count = read(source, bytes, sizeof bytes);
        if (count <= 0)
            return count < 0 ? -errno : 0;
        int code = handle(words);
        if (code < 0)
            return code;
    }
}
