/* SPDX-License-Identifier: MIT */
#include "shim/report/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/lock/rank.h"
#include "common/log.h"
#include "common/stream.h"
#include "common/utf8.h"
#include "shim/record/objects.h"
#include "shim/report/output.h"
#include "shim/report/report.h"

enum { LANES = 8, FIRST_TID = 1 << 30, EVENT_BYTES = 1024 };

/* A device's commands of one kind. Those of several queues may overlap, which one track can't show: then they go to
 * further lanes. */
struct track {
    unsigned lanes;
    uint64_t end_ns[LANES]; /* of each lane's last event */
};

static struct {
    pthread_mutex_t lock; /* all below but the job */
    enum { UNTRIED, OPEN, CLOSED } state;
    int fd;
    dev_t file_dev;
    ino_t file_ino;
    pid_t pid;
    uint64_t since_ns; /* the process may have called OpenCL */
    struct track tracks[GS_MAX_DEVICES][GS_KINDS];
    atomic_uint_fast64_t job, jobs;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(trace.lock, GS_RANK_TRACE);

/* One sentence, and no trace from here on. */
static void give_up(const char *why)
{
    gs_error("the trace %s %s: %s", gs_settings()->trace, trace.state == OPEN ? "ends here" : "can't be written", why);
    trace.state = CLOSED;
}

/* ---- the file ---- */

static bool still_ours(void)
{
    struct stat st;
    return fstat(trace.fd, &st) == 0 && st.st_dev == trace.file_dev && st.st_ino == trace.file_ino;
}

/* Also once more: an application may close every descriptor that it doesn't know, and have the number again for a file
 * of its own. */
static bool open_file(void)
{
    struct stat st;
    const bool again = trace.state == OPEN;
    trace.fd = gs_stream_of(gs_settings()->trace) ? -ENOTSUP : gs_report_open(gs_settings()->trace);
    int err = trace.fd < 0 ? trace.fd : again && !still_ours() ? -ENOENT : gs_report_join(trace.fd);
    if (!err && fstat(trace.fd, &st) < 0)
        err = -errno;
    if (err) {
        give_up(again             ? "the application has closed it, and it is gone"
                : err == -ENOTSUP ? "it is no ordinary file of its own"
                                  : strerror(-err));
        if (trace.fd >= 0)
            close(trace.fd);
        return false;
    }
    trace.pid = getpid();
    trace.file_dev = st.st_dev;
    trace.file_ino = st.st_ino;
    trace.state = OPEN;
    return true;
}

/* Puts text at `at`, all or nothing. A file that grows beyond the process's limit would end it by a signal. */
static int put(const char *text, size_t bytes, off_t at)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && (rlim_t)at + bytes > limit.rlim_cur)
        return -EFBIG;
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pwrite(trace.fd, text + done, bytes - done, at + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += (size_t)n;
    }
    return 0;
}

static const char tail[] = "\n]\n";
enum { TAIL_BYTES = sizeof tail - 1 };

/* Appends events, each of which begins with ",\n", in the place of the array's end. With the file locked. */
static int append_locked(char *text, size_t bytes)
{
    struct stat st;
    if (fstat(trace.fd, &st) < 0)
        return -errno;
    if (st.st_size == 0)
        text[0] = '[';
    const off_t at = st.st_size ? st.st_size - TAIL_BYTES : 0;
    memcpy(text + bytes, tail, TAIL_BYTES);
    const int err = at < 0 ? -EINVAL : put(text, bytes + TAIL_BYTES, at);
    if (err && at >= 0 && ftruncate(trace.fd, st.st_size) == 0 && st.st_size)
        (void)put(tail, TAIL_BYTES, at);
    return err;
}

/* Text being put together; room for the tail is kept. */
struct text {
    char v[2 * EVENT_BYTES];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const size_t room = sizeof t->v - TAIL_BYTES - t->n;
    const int n = vsnprintf(t->v + t->n, room, fmt, ap);
    va_end(ap);
    if (n > 0)
        t->n += (size_t)n < room ? (size_t)n : room - 1;
}

static void add_string(struct text *t, const char *s)
{
    char c[GS_JSON_CHARACTER_BYTES];
    add(t, "\"");
    while (*s) {
        s += gs_json_character(s, c);
        add(t, "%s", c);
    }
    add(t, "\"");
}

static void append(struct text *t)
{
    if (!still_ours() && !open_file())
        return;
    int err = flock(trace.fd, LOCK_EX) < 0 ? -errno : 0;
    if (!err)
        err = append_locked(t->v, t->n);
    flock(trace.fd, LOCK_UN);
    if (err)
        give_up(strerror(-err));
}

/* Metadata of a process or of a track, as the format wants it. */
static void add_name(struct text *t, const char *what, uint64_t tid, const char *name)
{
    add(t, ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%" PRIu64 ",\"args\":{\"name\":", what, (int)trace.pid,
        tid);
    add_string(t, name);
    add(t, "}}");
}

static void add_instant(struct text *t, const char *category, const char *name, uint64_t at_ns)
{
    add(t, ",\n{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%" PRIu64 ".%03u",
        category, name, (int)trace.pid, (int)gettid(), at_ns / 1000, (unsigned)(at_ns % 1000));
}

__attribute__((constructor)) static void note_begin(void)
{
    trace.since_ns = gs_now_ns();
}

static void begin_process(void)
{
    struct text t = {.n = 0};
    char device[256];
    add_name(&t, "process_name", (uint64_t)trace.pid, program_invocation_short_name);
    add_instant(&t, "process", "start", trace.since_ns);
    add(&t, ",\"args\":{\"devices\":[");
    const struct gs_group *g = gs_group();
    for (unsigned d = 0; d < g->n; d++) {
        if (gs_real()->clGetDeviceInfo(g->dev[d], CL_DEVICE_NAME, sizeof device, device, NULL) != CL_SUCCESS)
            *device = '\0';
        device[60] = '\0';
        add(&t, d ? "," : "");
        add_string(&t, device);
    }
    add(&t, "]}}");
    append(&t);
}

/* Locks, with the file open; false: there is no trace (any more), and nothing is locked. */
static bool enter(void)
{
    if (gs_forked())
        return false;
    pthread_mutex_lock(&trace.lock);
    if (trace.state == UNTRIED && open_file())
        begin_process();
    if (trace.state == OPEN)
        return true;
    pthread_mutex_unlock(&trace.lock);
    return false;
}

/* ---- what is in it ---- */

static const struct {
    const char *category, *track;
} kinds[GS_KINDS] = {
    [GS_KIND_KERNEL] = {"kernel", "kernels"},
    [GS_KIND_UPLOAD] = {"upload", "uploads"},
    [GS_KIND_DOWNLOAD] = {"download", "downloads"},
    [GS_KIND_PEER] = {"peer", "peer copies"},
    [GS_KIND_COPY] = {"copy", "copies"},
    [GS_KIND_MERGE] = {"merge", "merges"},
};

static const char *path_of(const struct gs_ran *r)
{
    static const char *const ways[] = {
        [GS_WAY_DIRECT] = "direct", [GS_WAY_STAGED] = "staged", [GS_WAY_PINNED] = "pinned", [GS_WAY_PEER] = "peer"};
    if (*r->name)
        return r->name;
    return r->kind == GS_KIND_COPY ? "copy" : ways[r->label.way];
}

/* The thread id of the lane that is free at the event's start; names it on first use. */
static uint64_t choose_lane(struct text *t, const struct gs_ran *r)
{
    struct track *k = &trace.tracks[r->device][r->kind];
    unsigned lane = 0;
    while (lane < k->lanes && k->end_ns[lane] > r->start_ns)
        lane++;
    if (lane == LANES)
        lane = LANES - 1;
    const uint64_t tid = FIRST_TID + (r->device * GS_KINDS + (uint64_t)r->kind) * LANES + lane;
    if (lane == k->lanes) {
        char name[64];
        k->lanes++;
        snprintf(name, sizeof name, "device %u %s", r->device, kinds[r->kind].track);
        add_name(t, "thread_name", tid, name);
        add(t,
            ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%d,\"tid\":%" PRIu64
            ",\"args\":{\"sort_index\":%" PRIu64 "}}",
            (int)trace.pid, tid, tid);
    }
    k->end_ns[lane] = r->end_ns > k->end_ns[lane] ? r->end_ns : k->end_ns[lane];
    return tid;
}

static void add_span(struct text *t, const char *category, const char *name, uint64_t tid, uint64_t begin_ns,
                     uint64_t end_ns)
{
    const uint64_t took = end_ns - begin_ns;
    add(t, ",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", category);
    add_string(t, name);
    add(t, ",\"pid\":%d,\"tid\":%" PRIu64 ",\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64 ".%03u", (int)trace.pid, tid,
        begin_ns / 1000, (unsigned)(begin_ns % 1000), took / 1000, (unsigned)(took % 1000));
}

void gs_trace_command(const struct gs_ran *r)
{
    static const char *const purposes[] = {
        [GS_FOR_APP] = NULL, [GS_FOR_MERGE] = "merge", [GS_FOR_REDUCTION] = "reduce", [GS_FOR_VERIFY] = "verify"};
    struct text t = {.n = 0};
    if (!enter())
        return;
    const uint64_t tid = choose_lane(&t, r);
    const bool kernel = r->kind == GS_KIND_KERNEL || r->kind == GS_KIND_MERGE;
    const bool reduces = r->kind == GS_KIND_MERGE && r->label.purpose == GS_FOR_REDUCTION;
    add_span(&t, reduces ? "reduce" : kinds[r->kind].category, kernel ? r->name : path_of(r), tid, r->start_ns,
             r->end_ns);
    add(&t, ",\"args\":{\"device\":%u", r->device);
    if (kernel)
        add(&t, ",\"items\":%" PRIu64, r->items);
    else
        add(&t, ",\"bytes\":%" PRIu64 ",\"path\":\"%s\"", r->bytes, path_of(r));
    if (r->label.part >= 0)
        add(&t, ",\"part\":%d", r->label.part);
    if (r->job)
        add(&t, ",\"job\":%" PRIu64, r->job);
    if (purposes[r->label.purpose])
        add(&t, ",\"for\":\"%s\"", purposes[r->label.purpose]);
    add(&t, ",\"asked\":%" PRIu64 ".%03u}}", r->asked_ns / 1000, (unsigned)(r->asked_ns % 1000));
    append(&t);
    pthread_mutex_unlock(&trace.lock);
}

void gs_trace_call(const char *name, uint64_t begin_ns, uint64_t end_ns)
{
    static _Thread_local bool named;
    struct text t = {.n = 0};
    if (!enter())
        return;
    if (!named)
        add_name(&t, "thread_name", (uint64_t)gettid(),
                 gettid() == trace.pid ? "the application" : "a thread of the application");
    named = true;
    add_span(&t, "api", name, (uint64_t)gettid(), begin_ns, end_ns);
    const uint64_t number = gs_trace_job_number();
    if (number)
        add(&t, ",\"args\":{\"job\":%" PRIu64 "}", number);
    add(&t, "}");
    append(&t);
    pthread_mutex_unlock(&trace.lock);
}

void gs_trace_job(bool begin)
{
    const uint64_t number = begin ? atomic_fetch_add(&trace.jobs, 1) + 1 : atomic_load(&trace.job);
    atomic_store(&trace.job, begin ? number : 0);
    if (!gs_settings()->trace || !enter())
        return;
    struct text t = {.n = 0};
    add_instant(&t, "job", begin ? "job begin" : "job end", gs_now_ns());
    add(&t, ",\"args\":{\"job\":%" PRIu64 "}}", number);
    append(&t);
    pthread_mutex_unlock(&trace.lock);
}

uint64_t gs_trace_job_number(void)
{
    return atomic_load_explicit(&trace.job, memory_order_relaxed);
}

/* The end of the process, where it comes to that. */
__attribute__((destructor)) static void end_process(void)
{
    struct text t = {.n = 0};
    struct timespec soon;
    clock_gettime(CLOCK_MONOTONIC, &soon);
    soon.tv_sec++;
    if (gs_forked() || pthread_mutex_clocklock(&trace.lock, CLOCK_MONOTONIC, &soon) != 0)
        return;
    if (trace.state == OPEN) {
        add_instant(&t, "process", "end", gs_now_ns());
        add(&t, "}");
        append(&t);
    }
    pthread_mutex_unlock(&trace.lock);
}
