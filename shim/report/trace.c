/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "common/log.h"
#include "common/stream.h"
#include "common/utf8.h"
#include "shim/report/report.h"
#include "shim/process/threads.h"

enum { LANES = 8, FIRST_TID = 1 << 30 };

/* A device's commands of one kind. Overlapping commands go to further lanes: a track's events must not overlap. */
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
    char *text; /* of the event under way; owned */
    size_t bytes;
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

/* Opens the file, also once more: an application may close unknown descriptors, and use the number for its own file. */
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

/* Appends events, each beginning with a comma and a line's end, over the array's end, and a new end. File locked. */
static int append_locked(void)
{
    struct stat st;
    if (fstat(trace.fd, &st) < 0)
        return -errno;
    if (st.st_size == 0)
        trace.text[0] = '[';
    const off_t at = st.st_size ? st.st_size - TAIL_BYTES : 0;
    const int err = at < 0 ? -EINVAL : put(trace.text, trace.bytes, at);
    if (err && at >= 0 && ftruncate(trace.fd, st.st_size) == 0 && st.st_size)
        (void)put(tail, TAIL_BYTES, at);
    return err;
}

/* The text is complete: puts it into the file, and unlocks. */
static void leave(FILE *f)
{
    const bool whole = fputs(tail, f) >= 0 && !ferror(f);
    if (fclose(f) != 0 || !whole) {
        give_up(strerror(ENOMEM));
    } else if (still_ours() || open_file()) {
        int err = flock(trace.fd, LOCK_EX) < 0 ? -errno : 0;
        if (!err)
            err = append_locked();
        flock(trace.fd, LOCK_UN);
        if (err)
            give_up(strerror(-err));
    }
    free(trace.text);
    trace.text = NULL;
    pthread_mutex_unlock(&trace.lock);
}

/* Metadata of a process or of a track, as the format wants it. */
static void add_name(FILE *f, const char *what, uint64_t tid, const char *name)
{
    fprintf(f, ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%" PRIu64 ",\"args\":{\"name\":", what,
            (int)trace.pid, tid);
    gs_json_string(f, name);
    fprintf(f, "}}");
}

static void add_instant(FILE *f, const char *category, const char *name, uint64_t at_ns)
{
    fprintf(f,
            ",\n{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%" PRIu64 ".%03u",
            category, name, (int)trace.pid, (int)gettid(), at_ns / 1000, (unsigned)(at_ns % 1000));
}

__attribute__((constructor)) static void note_begin(void)
{
    trace.since_ns = gs_now_ns();
}

static void begin_process(FILE *f)
{
    char device[256];
    add_name(f, "process_name", (uint64_t)trace.pid, program_invocation_short_name);
    add_instant(f, "process", "start", trace.since_ns);
    fprintf(f, ",\"args\":{\"devices\":[");
    const struct gs_group *g = gs_group();
    for (unsigned d = 0; d < g->n; d++) {
        if (gs_real()->clGetDeviceInfo(g->dev[d], CL_DEVICE_NAME, sizeof device, device, NULL) != CL_SUCCESS)
            *device = '\0';
        device[60] = '\0';
        fprintf(f, d ? "," : "");
        gs_json_string(f, device);
    }
    fprintf(f, "]}}");
}

/* Locks, with the file open, for an event's text, until leave(); null: there is no trace (any more). `ends`: of the
 * process's end, which alone is no reason for a trace. */
static FILE *enter(bool ends)
{
    if (gs_forked() || (ends ? !gs_lock_soon(&trace.lock) : pthread_mutex_lock(&trace.lock) != 0))
        return NULL;
    const bool begins = trace.state == UNTRIED && !ends && open_file();
    FILE *f = trace.state == OPEN ? open_memstream(&trace.text, &trace.bytes) : NULL;
    if (!f)
        pthread_mutex_unlock(&trace.lock);
    else if (begins)
        begin_process(f);
    return f;
}

/* ---- contents ---- */

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
static uint64_t choose_lane(FILE *f, const struct gs_ran *r)
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
        add_name(f, "thread_name", tid, name);
        fprintf(f,
                ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%d,\"tid\":%" PRIu64
                ",\"args\":{\"sort_index\":%" PRIu64 "}}",
                (int)trace.pid, tid, tid);
    }
    k->end_ns[lane] = r->end_ns > k->end_ns[lane] ? r->end_ns : k->end_ns[lane];
    return tid;
}

static void add_span(FILE *f, const char *category, const char *name, uint64_t tid, uint64_t begin_ns, uint64_t end_ns)
{
    const uint64_t took = end_ns - begin_ns;
    fprintf(f, ",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", category);
    gs_json_string(f, name);
    fprintf(f, ",\"pid\":%d,\"tid\":%" PRIu64 ",\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64 ".%03u", (int)trace.pid, tid,
            begin_ns / 1000, (unsigned)(begin_ns % 1000), took / 1000, (unsigned)(took % 1000));
}

void gs_trace_command(const struct gs_ran *r)
{
    static const char *const purposes[] = {
        [GS_FOR_APP] = NULL, [GS_FOR_MERGE] = "merge", [GS_FOR_REDUCTION] = "reduce", [GS_FOR_VERIFY] = "verify"};
    FILE *f = enter(false);
    if (!f)
        return;
    const uint64_t tid = choose_lane(f, r);
    const bool kernel = r->kind == GS_KIND_KERNEL || r->kind == GS_KIND_MERGE;
    const bool reduces = r->kind == GS_KIND_MERGE && r->label.purpose == GS_FOR_REDUCTION;
    add_span(f, reduces ? "reduce" : kinds[r->kind].category, kernel ? r->name : path_of(r), tid, r->start_ns,
             r->end_ns);
    fprintf(f, ",\"args\":{\"device\":%u", r->device);
    if (kernel)
        fprintf(f, ",\"items\":%" PRIu64, r->items);
    else
        fprintf(f, ",\"bytes\":%" PRIu64 ",\"path\":\"%s\"", r->bytes, path_of(r));
    if (r->label.part >= 0)
        fprintf(f, ",\"part\":%d", r->label.part);
    if (r->job)
        fprintf(f, ",\"job\":%" PRIu64, r->job);
    if (purposes[r->label.purpose])
        fprintf(f, ",\"for\":\"%s\"", purposes[r->label.purpose]);
    fprintf(f, ",\"asked\":%" PRIu64 ".%03u}}", r->asked_ns / 1000, (unsigned)(r->asked_ns % 1000));
    leave(f);
}

void gs_trace_job(bool begin)
{
    const uint64_t number = begin ? atomic_fetch_add(&trace.jobs, 1) + 1 : atomic_load(&trace.job);
    atomic_store(&trace.job, begin ? number : 0);
    FILE *f = gs_settings()->trace ? enter(false) : NULL;
    if (!f)
        return;
    add_instant(f, "job", begin ? "job begin" : "job end", gs_now_ns());
    fprintf(f, ",\"args\":{\"job\":%" PRIu64 "}}", number);
    leave(f);
}

uint64_t gs_trace_job_number(void)
{
    return atomic_load_explicit(&trace.job, memory_order_relaxed);
}

/* The end of the process, if destructors run. */
__attribute__((destructor)) static void end_process(void)
{
    FILE *f = enter(true);
    if (!f)
        return;
    add_instant(f, "process", "end", gs_now_ns());
    fprintf(f, "}");
    leave(f);
}

/* ---- labels, and calls of the application ---- */

_Thread_local struct gs_label gs_label = {GS_FOR_APP, GS_WAY_DIRECT, -1};
static _Thread_local unsigned depth; /* of calls of the application: 1 within one */

/* A shorter one hasn't blocked, and isn't in the trace. */
enum { BLOCKED_NS = 20 * 1000 };

void gs_call_trace_begin(struct gs_call *call, const char *name)
{
    if (gs_threads_own())
        return;
    call->name = depth++ ? NULL : name;
    call->begin_ns = gs_now_ns();
}

void gs_call_trace_end(const struct gs_call *call)
{
    static _Thread_local bool named;
    const uint64_t now = gs_now_ns(), number = gs_trace_job_number();
    depth--;
    FILE *f = call->name && now - call->begin_ns >= BLOCKED_NS ? enter(false) : NULL;
    if (!f)
        return;
    if (!named)
        add_name(f, "thread_name", (uint64_t)gettid(),
                 gettid() == trace.pid ? "the application" : "a thread of the application");
    named = true;
    add_span(f, "api", call->name, (uint64_t)gettid(), call->begin_ns, now);
    if (number)
        fprintf(f, ",\"args\":{\"job\":%" PRIu64 "}", number);
    fprintf(f, "}");
    leave(f);
}
