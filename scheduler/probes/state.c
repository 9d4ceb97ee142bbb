/* SPDX-License-Identifier: MIT */
/* Files from which a probe goes on: a line that says what was measured, the probe's data, and a hash of both. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/log.h"
#include "scheduler/probes/probe.h"
#include "scheduler/probes/vecstat.h"

static const char mark[] = "gpusparc probe state 1: ";

enum { MAX_LINE = 600 };

bool probe_state_bytes(struct probe_state *s, void *bytes, size_t n)
{
    if (!s->failed)
        s->failed = (s->writing ? fwrite(bytes, 1, n, s->f) : fread(bytes, 1, n, s->f)) != n;
    return !s->failed;
}

bool probe_state_vectors(struct probe_state *s, struct gs_vecstat **v)
{
    struct gs_vecstat *read = NULL;
    if (!s->failed)
        s->failed = (s->writing ? gs_vecstat_save(*v, s->f) : gs_vecstat_load(&read, s->f)) != 0;
    if (read) {
        gs_vecstat_free(*v);
        *v = read;
    }
    return !s->failed;
}

/* The hash of the next n bytes of f. False: they could not be read. */
static bool hash_bytes(FILE *f, uint64_t n, unsigned char hash[GS_HASH_BYTES])
{
    unsigned char part[16384];
    struct gs_hash h;
    gs_hash_begin(&h);
    for (size_t m; n; n -= m) {
        m = n < sizeof(part) ? (size_t)n : sizeof(part);
        if (fread(part, 1, m, f) != m)
            return false;
        gs_hash_add(&h, part, m);
    }
    gs_hash_end(&h, hash);
    return true;
}

static bool write_all(FILE *f, const char *what, probe_state_data data, void *probe)
{
    unsigned char hash[GS_HASH_BYTES];
    struct probe_state s = {.f = f, .writing = true};
    if (fprintf(f, "%s%s\n", mark, what) < 0 || !data(probe, &s) || fflush(f) != 0)
        return false;
    off_t end = ftello(f);
    rewind(f);
    return end > 0 && hash_bytes(f, (uint64_t)end, hash) && fseeko(f, end, SEEK_SET) == 0 &&
           fwrite(hash, sizeof(hash), 1, f) == 1 && fflush(f) == 0 && fsync(fileno(f)) == 0;
}

bool probe_state_save(const char *path, const char *what, probe_state_data data, void *probe)
{
    char beside[PATH_MAX];
    int n = snprintf(beside, sizeof(beside), "%s.new", path);
    errno = ENAMETOOLONG;
    FILE *f = n < (int)sizeof(beside) ? fopen(beside, "w+b") : NULL;
    bool ok = f && write_all(f, what, data, probe);
    int err = errno;
    if (f && fclose(f) != 0 && ok) {
        ok = false;
        err = errno;
    }
    if (ok && rename(beside, path) == 0)
        return true;
    if (ok)
        err = errno;
    if (f)
        unlink(beside);
    gs_error("%s could not be written: %s", path, strerror(err));
    return false;
}

/* The first line is that of a state, and of this measurement; the hash is right; then f stands behind the line. */
static bool check(FILE *f, const char *path, const char *what)
{
    char line[MAX_LINE];
    unsigned char hash[GS_HASH_BYTES], stored[GS_HASH_BYTES];
    if (!fgets(line, sizeof(line), f) || strncmp(line, mark, strlen(mark)) != 0) {
        gs_error("%s is damaged, or isn't a probe's state", path);
        return false;
    }
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line + strlen(mark), what) != 0) {
        gs_error("%s belongs to another measurement, \"%s\": its options and device must be the same", path,
                 line + strlen(mark));
        return false;
    }
    long behind = ftell(f);
    bool ok = fseeko(f, 0, SEEK_END) == 0;
    off_t end = ok ? ftello(f) - (off_t)sizeof(hash) : -1;
    rewind(f);
    ok = end >= behind && hash_bytes(f, (uint64_t)end, hash) && fread(stored, sizeof(stored), 1, f) == 1 &&
         memcmp(hash, stored, sizeof(hash)) == 0 && fseek(f, behind, SEEK_SET) == 0;
    if (!ok)
        gs_error("%s is damaged: it ends early, or its bytes have changed", path);
    return ok;
}

bool probe_state_load(const char *path, const char *what, probe_state_data data, void *probe)
{
    struct probe_state s = {.f = fopen(path, "rb")};
    if (!s.f) {
        gs_error("%s could not be read: %s", path, strerror(errno));
        return false;
    }
    bool ok = check(s.f, path, what);
    if (ok && !data(probe, &s)) {
        gs_error("%s could not be read: there is not enough memory, or it is another version's", path);
        ok = false;
    }
    fclose(s.f);
    return ok;
}
