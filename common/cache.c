/* SPDX-License-Identifier: MIT */
/* Translations on disk. */
#include "common/cache.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/hash.h"

enum { STALE_SECONDS = 3600, TOUCH_SECONDS = 60 };

static const uint64_t default_limit = 256u << 20;
static const char header[] = "gpusparc cache\n"; /* of every entry */
enum { HEADER = sizeof header - 1 };

/* The folder's path; false where the environment names none, or is another user's, who has started a setuid program. */
static bool folder_path(char path[PATH_MAX])
{
    const char *xdg = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    int n = -1;
    if (xdg && xdg[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/gpusparc", xdg);
    else if (home && home[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/.cache/gpusparc", home);
    return n > 0 && n < PATH_MAX;
}

/* Goes down the path, and makes what is missing if `make`. False: there is a link of somebody else's, who could let us
 * end up anywhere. Root's links and the user's own are the machine's layout. */
static bool walk(char path[PATH_MAX], bool make)
{
    bool ours = true;
    for (char *c = path + 1; ours && *c; c++) {
        if (*c != '/')
            continue;
        struct stat st;
        *c = 0;
        ours = lstat(path, &st) != 0 || !S_ISLNK(st.st_mode) || st.st_uid == 0 || st.st_uid == geteuid();
        if (ours && make)
            mkdir(path, 0700);
        *c = '/';
    }
    if (ours && make)
        mkdir(path, 0700);
    return ours;
}

bool gs_later_compiles(void)
{
    const char *run = secure_getenv("GPUSPARC_RUN"); /* set by gs_later_end; else a number */
    return run && strcmp(run, "compile") == 0;
}

/* Opens the folder, made where it is missing and `make`; but by gpusparc-compile, which works for a cache that was
 * there as it began: who has removed it meanwhile wants it gone. Entries are believed, so it must be ours alone to
 * write. */
static int open_folder(bool make)
{
    enum { HOW = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW };
    char path[PATH_MAX];
    struct stat st;
    if (!folder_path(path) || !walk(path, false))
        return -1;
    int dir = open(path, HOW);
    if (dir < 0 && errno == ENOENT && make && !gs_later_compiles() && walk(path, true))
        dir = open(path, HOW);
    if (dir >= 0 && (fstat(dir, &st) != 0 || st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))) {
        close(dir);
        dir = -1;
    }
    return dir;
}

static char *read_whole(int fd, size_t size, size_t *bytes)
{
    char *text = malloc(size + 1);
    *bytes = 0;
    while (text && *bytes < size) {
        ssize_t n = read(fd, text + *bytes, size - *bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        *bytes += (size_t)n;
    }
    if (text)
        text[*bytes] = '\0';
    return text;
}

/* Whether it is one of ours, of which the header is read. */
static bool is_entry(int fd, struct stat *st)
{
    char text[HEADER];
    return fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
           read(fd, text, HEADER) == HEADER && memcmp(text, header, HEADER) == 0;
}

static int open_entry(int dir, const char *name)
{
    return openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

char *gs_cache_read(const char *name, size_t *bytes)
{
    int dir = open_folder(false);
    if (dir < 0)
        return NULL;
    char *text = NULL;
    struct stat st;
    int fd = open_entry(dir, name);
    if (is_entry(fd, &st) && st.st_size >= HEADER && st.st_size < INT_MAX) {
        text = read_whole(fd, (size_t)st.st_size - HEADER, bytes);
        if (time(NULL) - st.st_mtime > TOUCH_SECONDS)
            futimens(fd, NULL); /* used now: what the removal goes by */
    }
    if (fd >= 0)
        close(fd);
    close(dir);
    return text;
}

static uint64_t size_limit(void)
{
    const char *s = secure_getenv("GPUSPARC_CACHE_SIZE");
    char *end;
    if (!s || *s < '0' || *s > '9')
        return default_limit;
    errno = 0;
    uint64_t v = strtoull(s, &end, 10);
    unsigned shift = *end == 'K' || *end == 'k'   ? 10
                     : *end == 'M' || *end == 'm' ? 20
                     : *end == 'G' || *end == 'g' ? 30
                                                  : 0;
    return errno || v > UINT64_MAX >> shift ? UINT64_MAX : v << shift;
}

struct entry {
    char name[72];
    struct timespec used;
    uint64_t bytes;
};

static int compare_entries(const void *a, const void *b)
{
    const struct timespec *x = &((const struct entry *)a)->used, *y = &((const struct entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static bool is_hex(const char *s)
{
    size_t n = strspn(s, "0123456789abcdef");
    return n > 0 && !s[n];
}

/* A name that an entry may have: a hash, or WORD-HASH. What else lies in the folder isn't ours. */
static bool is_entry_name(const char *name)
{
    const size_t word = strspn(name, "abcdefghijklmnopqrstuvwxyz");
    return is_hex(name) ? strlen(name) == GS_HASH_HEX_BYTES - 1 : word && name[word] == '-' && is_hex(name + word + 1);
}

/* new.THREAD.SECONDS.NANOSECONDS, as gs_cache_write makes them. */
static bool is_temporary_name(const char *name)
{
    unsigned fields = 0;
    if (strncmp(name, "new", 3) != 0)
        return false;
    for (name += 3; *name == '.' && isdigit((unsigned char)name[1]); fields++)
        name += 1 + strspn(name + 1, "0123456789");
    return fields == 3 && !*name;
}

/* Lists the entries; removes what writers that died have left. */
static struct entry *list_entries(int dir, size_t *n, uint64_t *total)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    struct entry *v = NULL;
    size_t cap = 0;
    *n = 0;
    *total = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        if (strlen(e->d_name) >= sizeof v->name || fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode))
            continue;
        if (is_temporary_name(e->d_name) && time(NULL) - st.st_mtime > STALE_SECONDS)
            unlinkat(dir, e->d_name, 0);
        if (!is_entry_name(e->d_name))
            continue;
        if (*n == cap) {
            struct entry *grown = realloc(v, (cap = cap ? 2 * cap : 64) * sizeof *v);
            if (!grown)
                break;
            v = grown;
        }
        strcpy(v[*n].name, e->d_name);
        v[*n].used = st.st_mtim;
        v[*n].bytes = (uint64_t)st.st_size;
        *total += v[(*n)++].bytes;
    }
    if (d)
        closedir(d);
    else if (copy >= 0)
        close(copy);
    return v;
}

/* Removes the least recently used entries until no more than nine tenths of the limit are in use: not one at each
 * write. */
static void make_room(int dir, uint64_t limit)
{
    size_t n;
    uint64_t total;
    struct entry *v = list_entries(dir, &n, &total);
    if (v && total > limit) {
        qsort(v, n, sizeof *v, compare_entries);
        for (size_t i = 0; i < n && total > limit / 10 * 9; i++) {
            struct stat st;
            const int fd = open_entry(dir, v[i].name);
            if (is_entry(fd, &st)) {
                unlinkat(dir, v[i].name, 0);
                total -= v[i].bytes;
            }
            if (fd >= 0)
                close(fd);
        }
    }
    free(v);
}

static bool write_whole(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, text, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text += n;
        bytes -= (size_t)n;
    }
    return true;
}

bool gs_cache_write(const char *name, const char *text, size_t bytes)
{
    uint64_t limit = size_limit();
    struct rlimit r;
    if (bytes > limit / 2 || getrlimit(RLIMIT_FSIZE, &r) != 0 || r.rlim_cur < bytes + HEADER)
        return false; /* beyond that limit, writing would raise SIGXFSZ in the application */
    int dir = open_folder(true);
    bool whole = false;
    if (dir < 0)
        return false;
    char temporary[72];
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(temporary, sizeof temporary, "new.%ld.%lld.%ld", syscall(SYS_gettid), (long long)t.tv_sec, t.tv_nsec);
    int fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        whole = write_whole(fd, header, HEADER) && write_whole(fd, text, bytes);
        whole = close(fd) == 0 && whole;
        whole = whole && renameat(dir, temporary, dir, name) == 0;
        if (!whole)
            unlinkat(dir, temporary, 0);
        make_room(dir, limit);
    }
    close(dir);
    return whole;
}

int gs_cache_lock(void)
{
    const int dir = open_folder(false);
    int fd = dir < 0 ? -1 : openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        fd = -1;
    }
    if (dir >= 0)
        close(dir);
    return fd;
}

int gs_cache_folder(char *path, size_t bytes)
{
    char whole[PATH_MAX];
    if (!folder_path(whole))
        return -ENOENT;
    return snprintf(path, bytes, "%s", whole) < (int)bytes ? 0 : -ENAMETOOLONG;
}

int gs_cache_each(void (*see)(void *arg, const char *name, time_t used, uint64_t bytes), void *arg)
{
    char path[PATH_MAX];
    size_t n;
    uint64_t total;
    const int dir = open_folder(false);
    if (dir < 0) /* it isn't there, or it is another's too */
        return !folder_path(path) || access(path, F_OK) < 0 ? 0 : -EPERM;
    struct entry *v = list_entries(dir, &n, &total);
    if (n)
        qsort(v, n, sizeof *v, compare_entries);
    for (size_t i = 0; i < n; i++)
        see(arg, v[i].name, v[i].used.tv_sec, v[i].bytes);
    free(v);
    close(dir);
    return 0;
}

int gs_cache_remove(const char *name)
{
    const int dir = open_folder(false);
    const int err = dir < 0 ? -EPERM : unlinkat(dir, name, 0) < 0 ? -errno : 0;
    if (dir >= 0)
        close(dir);
    return err;
}

uint64_t gs_cache_limit(void)
{
    return size_limit();
}
