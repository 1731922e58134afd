// Which users beside the owner may write to a file: whether a group has only one user, and whether an ACL gives access.
#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

const int clinux_o_path = O_PATH;

static bool lists_no_other(char *const *members, const char *name) {
    for (; *members; members++) {
        if (strcmp(*members, name) != 0) return false;
    }
    return true;
}

bool clinux_is_private_group(gid_t group, uid_t user) {
    struct clinux_account account;
    if (clinux_account_by_id(user, &account) < 0 || account.group != group) return false;
    for (size_t size = 4096; size <= 1 << 20; size *= 4) {
        char *buffer = malloc(size);
        if (!buffer) return false;
        struct group entry, *found = NULL;
        int error = getgrgid_r(group, &entry, buffer, size, &found);
        bool is_private =
            found && strcmp(found->gr_name, account.name) == 0 && lists_no_other(found->gr_mem, account.name);
        free(buffer);
        if (error != ERANGE) return is_private;
    }
    return false;
}

bool clinux_has_access_list(const char *path) {
    if (lgetxattr(path, "system.posix_acl_access", NULL, 0) >= 0) return true;
    return errno != ENODATA && errno != EOPNOTSUPP;
}
