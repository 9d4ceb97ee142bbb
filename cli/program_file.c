/* SPDX-License-Identifier: MIT */
#include "cli/program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Its first bytes; how many there are. Without waiting for a pipe's other end. */
static size_t read_start(const char *path, void *start, size_t bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd < 0 ? -1 : pread(fd, start, bytes, 0);
    if (fd >= 0)
        close(fd);
    return n < 0 ? 0 : (size_t)n;
}

bool gs_is_program_file(const char *path)
{
    char start[SELFMAG];
    const size_t n = read_start(path, start, sizeof start);
    return (n == SELFMAG && memcmp(start, ELFMAG, SELFMAG) == 0) || (n >= 2 && memcmp(start, "#!", 2) == 0);
}

/* An ELF program of this machine's word length that names no loader. */
static bool is_static(const char *path)
{
    unsigned char start[4096];
    Elf64_Ehdr head;
    const size_t n = read_start(path, start, sizeof start);
    if (n < sizeof head || memcmp(start, ELFMAG, SELFMAG) != 0 || start[EI_CLASS] != ELFCLASS64)
        return false;
    memcpy(&head, start, sizeof head);
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part;
        const uint64_t at = head.e_phoff + (uint64_t)i * head.e_phentsize;
        if (at > n || n - at < sizeof part)
            return false; /* it can't be said */
        memcpy(&part, start + at, sizeof part);
        if (part.p_type == PT_INTERP)
            return false;
    }
    return head.e_phnum > 0;
}

static bool has_32_bits(const char *path)
{
    unsigned char start[EI_NIDENT];
    return read_start(path, start, sizeof start) == sizeof start && memcmp(start, ELFMAG, SELFMAG) == 0 &&
           start[EI_CLASS] == ELFCLASS32;
}

/* The loader ignores what a user asks of it where the program gets rights that the user hasn't. */
static bool gains_rights(const char *path)
{
    struct stat st;
    char capabilities[64];
    if (stat(path, &st) < 0)
        return false;
    return (st.st_mode & S_ISUID && st.st_uid != geteuid()) || (st.st_mode & S_ISGID && st.st_gid != getegid()) ||
           (geteuid() != 0 && getxattr(path, "security.capability", capabilities, sizeof capabilities) > 0);
}

/* Where execvp would find it. */
static bool find_program(const char *name, char path[PATH_MAX])
{
    const char *list = getenv("PATH");
    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
    for (const char *at = list ? list : "/bin:/usr/bin"; at;) {
        const size_t n = strcspn(at, ":");
        if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, at, n ? "/" : "", name) < PATH_MAX && access(path, X_OK) == 0)
            return true;
        at = at[n] ? at + n + 1 : NULL;
    }
    return false;
}

const char *gs_unreachable_program(const char *name)
{
    char path[PATH_MAX];
    if (!find_program(name, path))
        return NULL;
    if (gains_rights(path))
        return "runs with rights that this user hasn't (setuid, setgid or capabilities), so that no library can be put "
               "into it";
    if (has_32_bits(path))
        return "is a program of 32 bits, into which no library of 64 bits can be put";
    return is_static(path) ? "is linked statically, so that no library can be put into it" : NULL;
}
