// What transfers need of Linux: files that stay beneath a folder, and a program that outlives the one that starts it.
// Every function returns >= 0, or -errno.
#pragma once

#include <stddef.h>
#include <sys/types.h>

/// Opens a path beneath a folder; one that leads out of it, by `..`, by a link or by /proc, is -EXDEV or -ELOOP.
int clinux_open_beneath(int folder, const char *path, int flags, mode_t mode);

/// Becomes this user for good, with these groups.
int clinux_become(uid_t user, gid_t group, const gid_t *groups, size_t count);

/// Goes on in a child with a session of its own, whose standard input is /dev/null; the parent ends with 0.
int clinux_detach(void);

/// Starts a program with `socket` as its descriptor 3 and `lock` as its descriptor 4, and waits until it ends: one that
/// detaches itself does so at once. Returns its exit status, or 128 and the signal that ended it.
int clinux_run_with_socket(const char *path, char *const arguments[], char *const environment[], int socket, int lock);

/// Has the kernel begin to write these bytes of a file to the disk, and waits for none of it.
int clinux_begin_writeback(int descriptor, off_t place, off_t count);
