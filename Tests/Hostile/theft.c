// Attacks of one handler on another: its descriptors, its memory, its files, its life. What came of each is written down.
#define _GNU_SOURCE
#include "hostile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/// The beginning of a file of the process; empty where it cannot be read.
static void read_text(pid_t process, const char *name, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", process, name);
    memset(text, 0, size);
    FILE *file = fopen(path, "r");
    if (!file) return;
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

static pid_t parent_of(pid_t process) {
    char status[512];
    read_text(process, "stat", status, sizeof status);
    const char *name_end = strrchr(status, ')');
    return name_end && strlen(name_end) > 4 ? atoi(name_end + 4) : 0;
}

static int runs(pid_t process, const char *program) {
    char words[4096];
    read_text(process, "cmdline", words, sizeof words);
    size_t length = strlen(words), wanted = strlen(program);
    return length >= wanted && strcmp(words + length - wanted, program) == 0;
}

/// The process of the same daemon whose first word ends so; 0 where there is none.
static pid_t find(const char *program) {
    DIR *folder = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        pid_t process = atoi(entry->d_name);
        if (process > 0 && parent_of(process) == getppid() && runs(process, program)) found = process;
    }
    if (folder) closedir(folder);
    return found;
}

/// `result` is below zero for a failure, which `errno` tells.
static void note(FILE *book, const char *theft, long result) {
    fprintf(book, "%s: %s\n", theft, result < 0 ? strerrorname_np(errno) : "done");
    fflush(book);
}

static long open_closed(const char *format, pid_t process, int flags) {
    char path[128];
    snprintf(path, sizeof path, format, process);
    int file = open(path, flags | O_CLOEXEC);
    if (file >= 0) close(file);
    return file;
}

static long read_memory(pid_t process) {
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
    long count = process_vm_readv(process, &here, 1, &there, 1, 0);
    // Nothing is mapped there, but it was looked for.
    return count < 0 && errno == EFAULT ? 0 : count;
}

static long attach(pid_t process) {
    long result = ptrace(PTRACE_SEIZE, process, 0, 0);
    if (result == 0) ptrace(PTRACE_DETACH, process, 0, 0);
    return result;
}

/// Words: the file to write to, the end of the victim's program, and its state folder.
void steal(const struct turn *turn) {
    if (turn->number || !turn->words[0] || !turn->words[1] || !turn->words[2]) return;
    FILE *book = fopen(turn->words[0], "w");
    pid_t victim = find(turn->words[1]);
    if (!book) return;
    fprintf(book, "user: %d\nvictim: %s\n", (int)getuid(), victim > 0 ? "found" : "not found");
    if (victim > 0) {
        int handle = (int)syscall(SYS_pidfd_open, victim, 0);
        note(book, "descriptor 0", syscall(SYS_pidfd_getfd, handle, 0, 0));
        note(book, "descriptor 3", syscall(SYS_pidfd_getfd, handle, 3, 0));
        note(book, "reopen descriptor 0", open_closed("/proc/%d/fd/0", victim, O_RDONLY | O_NONBLOCK));
        note(book, "reopen descriptor 3", open_closed("/proc/%d/fd/3", victim, O_WRONLY | O_NONBLOCK));
        note(book, "memory", open_closed("/proc/%d/mem", victim, O_RDWR));
        note(book, "environment", open_closed("/proc/%d/environ", victim, O_RDONLY));
        note(book, "reading memory", read_memory(victim));
        note(book, "tracing", attach(victim));
        DIR *state = opendir(turn->words[2]);
        note(book, "state folder", state ? 0 : -1);
        if (state) closedir(state);
        note(book, "stop", kill(victim, SIGSTOP));
        note(book, "continue", kill(victim, SIGCONT));
        note(book, "kill", kill(victim, SIGKILL));
    }
    fprintf(book, "end: reached\n");
    fclose(book);
}
