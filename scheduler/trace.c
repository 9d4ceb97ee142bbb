/* SPDX-License-Identifier: MIT */
#include "scheduler/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/wire.h"

enum {
    BUFFER_BYTES = 4 << 20, /* some 30,000 events: what a disk may be behind */
    WAKE_BYTES = 64 << 10,  /* the writer sleeps until so much is there, or the end */
    EVENT_BYTES = 512,
    PID_RESOURCES = 1,
    PID_TASKS = 2,
    PID_WAITS = 3,
    PATIENCE_S = 5, /* for what is left, at the end: a pipe may have a reader that doesn't read */
    /* Grants of one resource whose units have not been drained from the clients' pages, by client: so many are looked
     * at for a unit, and clients whose numbers are equal modulo SETS share them. */
    SETS = 16,
    PENDING = 128,
    /* Tracks of a resource. Two units are out where depth is 2, as many pieces besides, and 16 times as many of an
     * application that is connected alone. A unit may be reported late, so a track knows its last SPANS. */
    TRACKS = 36,
    SPANS = 256,
    WAIT_TRACKS = 256, /* known at a time; a client whose track was forgotten gets another one */
    USERS = 64,        /* of more, all others count as one */
};

static const char tail[] = "\n]\n"; /* ends the array */
enum { TAIL = sizeof tail - 1 };

struct pending {
    uint32_t client;
    uint64_t grant_ns, flow;
};

struct span {
    uint64_t begin_ns, end_ns;
};

struct track {
    struct span ring[SPANS];
    unsigned n;       /* that there have been */
    uint64_t from_ns; /* what lies before this end of a forgotten span may overlap it */
};

struct wait_track {
    uint32_t client;
    unsigned tid;
    uint64_t end_ns; /* of its last wait */
};

struct gs_trace {
    const char *path;
    int fd;
    bool whole; /* a file: it is a whole array after each write, also where the daemon is killed then. A pipe isn't */
    pthread_t writer;
    pthread_mutex_t lock; /* protects all down to `error` */
    pthread_cond_t news;
    char *fill;    /* events that wait for the writer */
    size_t filled; /* bytes of it */
    bool closing;
    int error; /* -errno that ended the trace; nothing is kept any more */
    /* The daemon's thread alone: */
    uint64_t most_bytes, bytes; /* that there may be and are, ... */
    struct traced_user {
        uid_t uid;
        uint64_t bytes; /* ... and of each user's */
    } user[USERS];
    unsigned users;
    char *write;
    uint64_t lost, flows;
    struct pending_set {
        struct pending ring[PENDING];
        unsigned n; /* that there have been */
    } pending[GS_MAX_RESOURCES][SETS];
    struct track track[GS_MAX_RESOURCES][TRACKS];
    struct wait_track waits[WAIT_TRACKS];
    unsigned wait_tracks; /* that there have been */
};

/* ---- the writer ---- */

/* *done counts the bytes written, also where not all could be. */
static int write_all(int fd, const char *p, size_t n, size_t *done)
{
    for (*done = 0; *done < n;) {
        ssize_t m = write(fd, p + *done, n - *done);
        if (m < 0 && errno == EINTR)
            continue;
        if (m <= 0)
            return m < 0 ? -errno : -EIO;
        *done += (size_t)m;
    }
    return 0;
}

/* Of the events at p so many bytes could be written: ends the file behind the last whole one. A pipe stays as it is. */
static void end_torn(int fd, const char *p, size_t done)
{
    const off_t at = lseek(fd, 0, SEEK_CUR);
    size_t whole = done > 3 ? done - 3 : 0;
    while (whole && strncmp(p + whole, ",\n{", 3) != 0)
        whole--;
    const off_t end = at - (off_t)(done - whole);
    size_t n;
    if (at < 0 || end <= 0 || ftruncate(fd, end) < 0 || lseek(fd, end, SEEK_SET) < 0 ||
        write_all(fd, "\n]\n", 3, &n) < 0) {
        /* What reads traces does without the end, too. */
    }
}

/* Writes n bytes of events, for which there is room behind them for the array's end. The next ones go over that. */
static int write_events(struct gs_trace *t, char *events, size_t n)
{
    size_t done;
    if (t->whole)
        memcpy(events + n, tail, TAIL);
    int err = write_all(t->fd, events, n + (t->whole ? TAIL : 0), &done);
    if (err < 0)
        end_torn(t->fd, events, done < n ? done : n);
    else if (t->whole && lseek(t->fd, -TAIL, SEEK_CUR) < 0)
        err = -errno;
    return err;
}

/* Says once that there will be no more of it. */
static void give_up(struct gs_trace *t, int err)
{
    t->error = err;
    gs_warn("the trace %s ends here, it can't be written: %s", t->path, strerror(-err));
}

static void *writer(void *arg)
{
    struct gs_trace *t = arg;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (!t->closing && t->filled < WAKE_BYTES)
            pthread_cond_wait(&t->news, &t->lock);
        size_t n = t->filled;
        if (n == 0)
            break;
        char *full = t->fill;
        t->fill = t->write;
        t->write = full;
        t->filled = 0;
        pthread_mutex_unlock(&t->lock);
        int err = write_events(t, full, n);
        pthread_mutex_lock(&t->lock);
        if (err < 0) {
            give_up(t, err);
            break;
        }
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static struct traced_user *user_of(struct gs_trace *t, uid_t uid)
{
    unsigned i = 0;
    while (i < t->users && t->user[i].uid != uid)
        i++;
    if (i == USERS)
        return &t->user[USERS - 1];
    if (i == t->users)
        t->user[t->users++] = (struct traced_user){.uid = uid};
    return &t->user[i];
}

/* The disk is root's, and whoever asks for a unit writes to it. */
static bool may_grow(struct gs_trace *t, const struct gs_traced *who, size_t n)
{
    if (!t->whole || !who)
        return true;
    struct traced_user *u = user_of(t, who->uid);
    if (u->bytes + n > t->most_bytes / 4 || t->bytes + n > t->most_bytes)
        return false;
    u->bytes += n;
    t->bytes += n;
    return true;
}

/* One event: an object of the file's array, without its end. `who` is null: nobody's. */
__attribute__((format(printf, 3, 4))) static void emit(struct gs_trace *t, const struct gs_traced *who, const char *fmt,
                                                       ...)
{
    char line[EVENT_BYTES];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (n < 0 || n >= (int)sizeof line)
        return;
    if (!may_grow(t, who, (size_t)n)) {
        gs_trace_lost(t, 1);
        return;
    }
    pthread_mutex_lock(&t->lock);
    if (t->error || t->filled + (size_t)n > BUFFER_BYTES) {
        t->lost++;
    } else {
        memcpy(t->fill + t->filled, line, (size_t)n);
        bool wake = t->filled < WAKE_BYTES && t->filled + (size_t)n >= WAKE_BYTES;
        t->filled += (size_t)n;
        if (wake)
            pthread_cond_signal(&t->news);
    }
    pthread_mutex_unlock(&t->lock);
}

void gs_trace_lost(struct gs_trace *t, uint64_t events)
{
    pthread_mutex_lock(&t->lock);
    t->lost += events;
    pthread_mutex_unlock(&t->lock);
}

static int start_writer(struct gs_trace *t)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int err = pthread_create(&t->writer, NULL, writer, t);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -err;
}

static bool is_file(int fd)
{
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Two names, so that a file is an array from the first moment on. A pipe may have no reader yet. */
static void begin(struct gs_trace *t)
{
    emit(t, NULL, "[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"resources\"}}",
         PID_RESOURCES);
    emit(t, NULL, ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"tasks\"}}", PID_TASKS);
    emit(t, NULL, ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"waits\"}}", PID_WAITS);
    if (!t->whole)
        return;
    const int err = write_events(t, t->fill, t->filled);
    t->filled = 0;
    if (err < 0)
        give_up(t, err);
}

/* A pipe without a reader is an error, not a place to wait at. */
static int open_trace(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
    if (fd >= 0)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK); /* the writer is a thread that may wait */
    return fd;
}

int gs_trace_open(struct gs_trace **out, const char *path, uint64_t most_bytes)
{
    struct gs_trace *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    pthread_mutexattr_t attr; /* the writer has no priority of its own, and must not keep the daemon waiting */
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&t->lock, &attr);
    pthread_mutexattr_destroy(&attr);
    pthread_cond_init(&t->news, NULL);
    t->path = path;
    t->most_bytes = most_bytes;
    t->fill = malloc(BUFFER_BYTES + TAIL);
    t->write = malloc(BUFFER_BYTES + TAIL);
    t->fd = open_trace(path);
    t->whole = is_file(t->fd);
    int err = t->fd < 0 ? -errno : !t->fill || !t->write ? -ENOMEM : 0;
    if (err == 0) {
        begin(t);
        err = start_writer(t);
    }
    if (err < 0) {
        if (t->fd >= 0)
            close(t->fd);
        free(t->fill);
        free(t->write);
        free(t);
        return err;
    }
    *out = t;
    return 0;
}

int gs_trace_close(struct gs_trace *t)
{
    if (!t)
        return 0;
    if (t->lost && !t->error)
        emit(t, NULL, ",\n{\"ph\":\"M\",\"name\":\"lost\",\"pid\":%d,\"args\":{\"events\":%" PRIu64 "}}", PID_TASKS,
             t->lost);
    if (!t->whole)
        emit(t, NULL, "%s", tail);
    pthread_mutex_lock(&t->lock);
    t->closing = true;
    pthread_cond_signal(&t->news);
    pthread_mutex_unlock(&t->lock);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    /* It has all of *t then, until the process ends. */
    if (pthread_clockjoin_np(t->writer, NULL, CLOCK_MONOTONIC, &until) != 0)
        return -ETIMEDOUT;
    int err = close(t->fd) < 0 && !t->error ? -errno : 0;
    free(t->fill);
    free(t->write);
    pthread_cond_destroy(&t->news);
    pthread_mutex_destroy(&t->lock);
    free(t);
    return err;
}

/* ---- the events ---- */

/* The format's unit is the microsecond. */
#define US_FORMAT "%" PRIu64 ".%03u"
#define US(ns) (ns) / 1000, (unsigned)((ns) % 1000)

static const char *name_of(const char *task)
{
    return task[0] ? task : "no task";
}

static unsigned tid_of(unsigned resource, unsigned track)
{
    return resource + track * GS_MAX_RESOURCES;
}

static void name_resource(struct gs_trace *t, unsigned resource, unsigned track)
{
    char name[16];
    snprintf(name, sizeof name, resource == GS_RESOURCE_PCI ? "link" : "GPU %u", resource - 1);
    emit(t, NULL, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%u,\"args\":{\"name\":\"%s%s\"}}",
         PID_RESOURCES, tid_of(resource, track), name, track ? ", granted ahead" : "");
}

void gs_trace_resource(struct gs_trace *t, unsigned resource)
{
    name_resource(t, resource, 0);
}

/* Names of tasks are letters, digits, '_', '.' and '-' (common/config.c): they need no escapes. */
void gs_trace_client(struct gs_trace *t, const struct gs_traced *who, unsigned gpus)
{
    emit(t, who,
         ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%" PRIu32
         ",\"args\":{\"name\":\"%s, process %d\",\"gpus\":%u}}",
         PID_TASKS, who->client, name_of(who->task), (int)who->pid, gpus);
}

/* A track of the client's whose last wait ended before this one began. Grants come in the order of their times. */
static unsigned wait_tid(struct gs_trace *t, const struct gs_traced *who, uint64_t begin_ns, uint64_t end_ns)
{
    for (unsigned i = 0; i < WAIT_TRACKS && i < t->wait_tracks; i++)
        if (t->waits[i].client == who->client && t->waits[i].end_ns <= begin_ns) {
            t->waits[i].end_ns = end_ns;
            return t->waits[i].tid;
        }
    const unsigned tid = ++t->wait_tracks;
    t->waits[(tid - 1) % WAIT_TRACKS] = (struct wait_track){.client = who->client, .tid = tid, .end_ns = end_ns};
    emit(t, who,
         ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%u,\"args\":{\"name\":\"%s, process %d\"}}",
         PID_WAITS, tid, name_of(who->task), (int)who->pid);
    return tid;
}

void gs_trace_grant(struct gs_trace *t, const struct gs_traced *who, unsigned resource, uint64_t request_ns,
                    uint64_t grant_ns)
{
    const uint64_t flow = ++t->flows;
    const unsigned tid = wait_tid(t, who, request_ns, grant_ns);
    emit(t, who,
         ",\n{\"ph\":\"X\",\"name\":\"wait\",\"pid\":%d,\"tid\":%u,\"ts\":" US_FORMAT ",\"dur\":" US_FORMAT
         ",\"args\":{\"client\":%" PRIu32 ",\"resource\":%u}}",
         PID_WAITS, tid, US(request_ns), US(grant_ns - request_ns), who->client, resource);
    emit(t, who,
         ",\n{\"ph\":\"s\",\"name\":\"grant\",\"cat\":\"grant\",\"id\":%" PRIu64
         ",\"pid\":%d,\"tid\":%u,\"ts\":" US_FORMAT "}",
         flow, PID_WAITS, tid, US(request_ns));
    struct pending_set *set = &t->pending[resource][who->client % SETS];
    set->ring[set->n++ % PENDING] = (struct pending){.client = who->client, .grant_ns = grant_ns, .flow = flow};
}

/* The grant that the unit came from: the client's last one before it began. Null: not traced, or too long ago. */
static struct pending *find_pending(struct gs_trace *t, uint32_t client, unsigned resource, uint64_t begin_ns)
{
    struct pending_set *set = &t->pending[resource][client % SETS];
    for (unsigned back = 1; back <= set->n && back <= PENDING; back++) {
        struct pending *p = &set->ring[(set->n - back) % PENDING];
        if (p->flow && p->client == client && p->grant_ns <= begin_ns)
            return p;
    }
    return NULL;
}

static bool has_room(const struct track *k, uint64_t begin_ns, uint64_t end_ns)
{
    bool room = begin_ns >= k->from_ns;
    for (unsigned i = 0; i < SPANS && i < k->n; i++)
        room &= begin_ns >= k->ring[i].end_ns || end_ns <= k->ring[i].begin_ns;
    return room;
}

/* The first track of the resource on which the span overlaps no other; TRACKS: none. */
static unsigned find_track(struct gs_trace *t, unsigned resource, uint64_t begin_ns, uint64_t end_ns)
{
    unsigned i = 0;
    while (i < TRACKS && !has_room(&t->track[resource][i], begin_ns, end_ns))
        i++;
    if (i == TRACKS)
        return i;
    struct track *k = &t->track[resource][i];
    struct span *s = &k->ring[k->n % SPANS];
    if (k->n == 0 && i)
        name_resource(t, resource, i);
    if (k->n++ >= SPANS && s->end_ns > k->from_ns)
        k->from_ns = s->end_ns;
    *s = (struct span){begin_ns, end_ns};
    return i;
}

/* Its track; TRACKS: there is none. `more`: further arguments. */
static unsigned show_units(struct gs_trace *t, const struct gs_traced *who, unsigned resource, uint64_t begin_ns,
                           uint64_t end_ns, const char *more)
{
    const unsigned track = find_track(t, resource, begin_ns, end_ns);
    if (track == TRACKS)
        gs_trace_lost(t, 1);
    else
        emit(t, who,
             ",\n{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%u,\"ts\":" US_FORMAT ",\"dur\":" US_FORMAT
             ",\"args\":{\"client\":%" PRIu32 ",\"resource\":%u%s}}",
             name_of(who->task), PID_RESOURCES, tid_of(resource, track), US(begin_ns), US(end_ns - begin_ns),
             who->client, resource, more);
    return track;
}

void gs_trace_units_left(struct gs_trace *t, const struct gs_traced *who, unsigned resource, uint64_t begin_ns,
                         uint64_t end_ns)
{
    show_units(t, who, resource, begin_ns, end_ns, ",\"left\":true");
}

void gs_trace_unit(struct gs_trace *t, const struct gs_traced *who, unsigned resource, bool asked, uint64_t begin_ns,
                   uint64_t end_ns)
{
    struct pending *p = asked ? find_pending(t, who->client, resource, begin_ns) : NULL;
    const uint64_t from = p ? p->grant_ns : begin_ns;
    const unsigned track = show_units(t, who, resource, from, end_ns, "");
    if (track == TRACKS || !p)
        return;
    emit(t, who,
         ",\n{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"grant\",\"cat\":\"grant\",\"id\":%" PRIu64
         ",\"pid\":%d,\"tid\":%u,\"ts\":" US_FORMAT "}",
         p->flow, PID_RESOURCES, tid_of(resource, track), US(from));
    p->flow = 0;
}

static void mark(struct gs_trace *t, const struct gs_traced *who, const char *what, uint64_t at_ns)
{
    emit(t, who, ",\n{\"ph\":\"i\",\"s\":\"t\",\"name\":\"%s\",\"pid\":%d,\"tid\":%" PRIu32 ",\"ts\":" US_FORMAT "}",
         what, PID_TASKS, who->client, US(at_ns));
}

void gs_trace_job(struct gs_trace *t, const struct gs_traced *who, uint64_t release_ns, uint64_t end_ns,
                  uint64_t deadline_ns)
{
    const char *cat = deadline_ns ? "job" : "warm-up";
    /* Asynchronous: a job encloses waits that have been written before it. */
    emit(t, who,
         ",\n{\"ph\":\"b\",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%" PRIu64 ",\"pid\":%d,\"tid\":%" PRIu32
         ",\"ts\":" US_FORMAT "}",
         cat, name_of(who->task), ++t->flows, PID_TASKS, who->client, US(release_ns));
    emit(t, who,
         ",\n{\"ph\":\"e\",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%" PRIu64 ",\"pid\":%d,\"tid\":%" PRIu32
         ",\"ts\":" US_FORMAT "}",
         cat, name_of(who->task), t->flows, PID_TASKS, who->client, US(end_ns));
    mark(t, who, "release", release_ns);
    if (!deadline_ns)
        return;
    mark(t, who, "deadline", release_ns + deadline_ns);
    if (end_ns > release_ns + deadline_ns)
        mark(t, who, "deadline missed", release_ns + deadline_ns);
}
