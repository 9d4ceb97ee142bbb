/* SPDX-License-Identifier: MIT */
#include "shim/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/stream.h"
#include "common/utf8.h"
#include "shim/busy.h"
#include "shim/output.h"

enum { MAX_REASONS = 8, MAX_REASON_BYTES = 160 };

struct gs_kernel_stats {
    char *name;
    uint64_t launches, split, compared, verified, wrong;
    uint64_t tried, repeated; /* splits on trial that have ended; of these, done over */
    unsigned most_parts, last_dim;
    struct {
        char text[MAX_REASON_BYTES];
        uint64_t count;
    } reason[MAX_REASONS];
    unsigned n_reasons;
    bool chosen;                      /* by auto mode: */
    uint64_t single_ns, split_ns;     /* its last prediction, or 0 */
    uint64_t busy_ns[GS_MAX_DEVICES]; /* device time of its commands */
    struct gs_kernel_stats *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below but the bytes */
static struct gs_kernel_stats *kernels;
static struct gs_kernel_stats **last = &kernels;
static struct gs_busy busy[GS_PATHS];
/* Between the application and the devices, and on these; with the names of --stats. */
enum phase { WRITING, KERNELS, MERGING, READING, PHASES };
static const char *const phase_names[PHASES] = {"write", "kernel", "merge", "read"};
static struct gs_busy phases[PHASES];
static int claimed = -1; /* our own file, or -1 */
static bool taken;       /* the file is another process's */
static atomic_uint_fast64_t moved[GS_PATHS], moves[GS_PATHS];

static const char *const path_names[GS_PATHS] = {
    [GS_PATH_APP_WRITE] = "app_write", [GS_PATH_APP_READ] = "app_read", [GS_PATH_COPY] = "copy",
    [GS_PATH_HOST] = "host",           [GS_PATH_PINNED] = "pinned",     [GS_PATH_PEER] = "peer",
    [GS_PATH_DIRECT] = "direct",       [GS_PATH_STAGED] = "staged",     [GS_PATH_MERGE] = "merge",
    [GS_PATH_REDUCE] = "reduce",       [GS_PATH_BOUNDS] = "bounds",
};

void gs_report_moved(enum gs_path path, uint64_t bytes)
{
    atomic_fetch_add_explicit(&moved[path], bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&moves[path], 1, memory_order_relaxed);
}

/* The first process with a kernel has the file, and the others a file of their own each. What is wrong with it, if
 * anything, is said at the end. */
static void claim_file(void)
{
    const char *file = gs_settings()->stats;
    if (!file || strcmp(file, "-") == 0 || gs_stream_of(file) || (claimed = gs_output_open(file)) < 0)
        return;
    taken = gs_output_first(claimed) == false;
    if (taken)
        close(claimed);
}

struct gs_kernel_stats *gs_report_kernel(const char *name)
{
    pthread_mutex_lock(&lock);
    if (!kernels)
        claim_file();
    struct gs_kernel_stats *k = kernels;
    while (k && strcmp(k->name, name) != 0)
        k = k->next;
    if (!k && (k = calloc(1, sizeof *k)) != NULL) {
        k->name = strdup(name);
        if (k->name) {
            *last = k;
            last = &k->next;
        } else {
            free(k);
            k = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return k;
}

void gs_report_split(struct gs_kernel_stats *k, unsigned parts, unsigned dim)
{
    if (!k)
        return;
    pthread_mutex_lock(&lock);
    k->launches++;
    k->split++;
    k->last_dim = dim;
    if (parts > k->most_parts)
        k->most_parts = parts;
    pthread_mutex_unlock(&lock);
}

/* With the lock held. */
static void add_reason(struct gs_kernel_stats *k, const char *reason)
{
    unsigned i = 0;
    while (i < k->n_reasons && strncmp(k->reason[i].text, reason, MAX_REASON_BYTES - 1) != 0)
        i++;
    if (i == k->n_reasons && i < MAX_REASONS)
        snprintf(k->reason[k->n_reasons++].text, MAX_REASON_BYTES, "%s", reason);
    if (i < MAX_REASONS)
        k->reason[i].count++;
}

void gs_report_single(struct gs_kernel_stats *k, const char *reason)
{
    if (!k)
        return;
    pthread_mutex_lock(&lock);
    k->launches++;
    add_reason(k, reason);
    pthread_mutex_unlock(&lock);
}

void gs_report_tried(struct gs_kernel_stats *k, bool kept)
{
    if (!k)
        return;
    pthread_mutex_lock(&lock);
    k->tried++;
    if (!kept) {
        k->repeated++;
        add_reason(k, "it was tried in parts, and several of them changed what its atomics work on");
    }
    pthread_mutex_unlock(&lock);
}

void gs_report_choice(struct gs_kernel_stats *k, uint64_t single_ns, uint64_t split_ns)
{
    if (!k)
        return;
    pthread_mutex_lock(&lock);
    k->chosen = true;
    k->single_ns = single_ns;
    k->split_ns = split_ns;
    pthread_mutex_unlock(&lock);
}

void gs_report_verified(struct gs_kernel_stats *k, bool right)
{
    if (!k)
        return;
    pthread_mutex_lock(&lock);
    k->verified++;
    k->wrong += !right;
    pthread_mutex_unlock(&lock);
}

bool gs_report_wants_times(void)
{
    return gs_settings()->stats || gs_settings()->trace;
}

/* The phase that a command belongs to, as the paper's Figure 5 has them; PHASES: to none. */
static enum phase phase_of(const struct gs_ran *r)
{
    if (r->label.purpose == GS_FOR_MERGE || r->label.purpose == GS_FOR_REDUCTION)
        return MERGING;
    if (r->kind == GS_KIND_KERNEL)
        return KERNELS;
    const bool to_or_from_app = r->label.way == GS_WAY_DIRECT || r->label.way == GS_WAY_STAGED;
    if (!to_or_from_app || r->label.part >= 0)
        return PHASES;
    return r->kind == GS_KIND_UPLOAD ? WRITING : r->kind == GS_KIND_DOWNLOAD ? READING : PHASES;
}

/* The path that a transfer took; GS_PATHS: none of them. */
static enum gs_path path_of(const struct gs_ran *r)
{
    const bool by_host = r->kind == GS_KIND_UPLOAD || r->kind == GS_KIND_DOWNLOAD;
    if (r->kind == GS_KIND_PEER)
        return GS_PATH_PEER;
    if (*r->name || !(by_host || r->kind == GS_KIND_COPY))
        return GS_PATHS;
    if (!by_host)
        return GS_PATH_COPY;
    if (r->label.way == GS_WAY_PINNED)
        return GS_PATH_PINNED;
    if (r->label.purpose != GS_FOR_APP)
        return GS_PATHS;
    return r->label.way == GS_WAY_STAGED ? GS_PATH_STAGED : GS_PATH_DIRECT;
}

static void add_path_time(const struct gs_ran *r)
{
    const enum gs_path path = path_of(r);
    if (path == GS_PATHS)
        return;
    gs_busy_add(&busy[path], r->start_ns, r->end_ns);
    if (path == GS_PATH_DIRECT || path == GS_PATH_STAGED) {
        gs_report_moved(path, r->bytes);
        gs_busy_add(&busy[r->kind == GS_KIND_UPLOAD ? GS_PATH_APP_WRITE : GS_PATH_APP_READ], r->start_ns, r->end_ns);
    }
}

void gs_report_ran(const struct gs_ran *r)
{
    if (!gs_settings()->stats || r->label.purpose == GS_FOR_VERIFY)
        return;
    const enum phase phase = phase_of(r);
    struct gs_kernel_stats *k = phase == KERNELS ? gs_report_kernel(r->name) : NULL;
    pthread_mutex_lock(&lock);
    if (k)
        k->busy_ns[r->device] += r->end_ns - r->start_ns;
    if (phase != PHASES)
        gs_busy_add(&phases[phase], r->start_ns, r->end_ns);
    if (phase == MERGING)
        gs_busy_add(&busy[r->label.purpose == GS_FOR_MERGE ? GS_PATH_MERGE : GS_PATH_REDUCE], r->start_ns, r->end_ns);
    add_path_time(r);
    pthread_mutex_unlock(&lock);
}

static void print_table(FILE *f)
{
    fprintf(f, "gpusparc: %-28s %8s %8s %6s %12s  %s\n", "kernel", "launches", "split", "parts", "device ms",
            "not split because");
    for (const struct gs_kernel_stats *k = kernels; k; k = k->next) {
        uint64_t longest = 0;
        for (unsigned d = 0; d < GS_MAX_DEVICES; d++)
            longest = k->busy_ns[d] > longest ? k->busy_ns[d] : longest;
        fprintf(f, "gpusparc: %-28s %8llu %8llu %6u %12.3f", k->name, (unsigned long long)k->launches,
                (unsigned long long)(k->split - k->repeated), k->most_parts, (double)longest / 1e6);
        for (unsigned i = 0; i < k->n_reasons; i++)
            fprintf(f, "%s %s (%llu)", i ? ";" : " ", k->reason[i].text, (unsigned long long)k->reason[i].count);
        if (k->chosen && k->single_ns && k->split_ns)
            fprintf(f, "  [expected: one device %.3f ms, split %.3f ms]", (double)k->single_ns / 1e6,
                    (double)k->split_ns / 1e6);
        if (k->tried)
            fprintf(f, "  on trial: %llu kept, %llu repeated", (unsigned long long)(k->tried - k->repeated),
                    (unsigned long long)k->repeated);
        if (k->verified)
            fprintf(f, "  verified %llu, wrong %llu", (unsigned long long)k->verified, (unsigned long long)k->wrong);
        fputc('\n', f);
    }
    fprintf(f, "gpusparc: %-28s %12s %8s %12s\n", "path", "bytes", "moves", "ms");
    for (int p = 0; p < GS_PATHS; p++)
        if (moves[p])
            fprintf(f, "gpusparc: %-28s %12llu %8llu %12.3f\n", path_names[p], (unsigned long long)moved[p],
                    (unsigned long long)moves[p], (double)gs_busy_ns(&busy[p]) / 1e6);
    fprintf(f, "gpusparc: in all, ms:");
    for (int p = 0; p < PHASES; p++)
        fprintf(f, " %s %.3f", phase_names[p], (double)gs_busy_ns(&phases[p]) / 1e6);
    fputc('\n', f);
}

static void print_string(FILE *f, const char *s)
{
    fputc('"', f);
    for (size_t n; *s; s += n ? n : 1) {
        const unsigned char c = (unsigned char)*s;
        n = gs_utf8_bytes(s);
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20 || !n) /* what is no UTF-8, as Latin-1 */
            fprintf(f, "\\u%04x", c);
        else
            fwrite(s, 1, n, f);
    }
    fputc('"', f);
}

static void print_kernel_json(FILE *f, const struct gs_kernel_stats *k)
{
    fputs("    {\"name\": ", f);
    print_string(f, k->name);
    fprintf(f, ", \"launches\": %llu, \"split\": %llu, \"parts\": %u, \"dim\": %u, \"verified\": %llu, \"wrong\": %llu",
            (unsigned long long)k->launches, (unsigned long long)(k->split - k->repeated), k->most_parts, k->last_dim,
            (unsigned long long)k->verified, (unsigned long long)k->wrong);
    if (k->tried)
        fprintf(f, ", \"trial\": {\"kept\": %llu, \"repeated\": %llu}", (unsigned long long)(k->tried - k->repeated),
                (unsigned long long)k->repeated);
    fputs(", \"device_ns\": [", f);
    for (unsigned d = 0; d < gs_group()->n; d++)
        fprintf(f, "%s%llu", d ? ", " : "", (unsigned long long)k->busy_ns[d]);
    fputs("]", f);
    if (k->chosen)
        fprintf(f, ", \"choice\": {\"single_ns\": %llu, \"split_ns\": %llu}", (unsigned long long)k->single_ns,
                (unsigned long long)k->split_ns);
    fputs(", \"reasons\": [", f);
    for (unsigned i = 0; i < k->n_reasons; i++) {
        fprintf(f, "%s{\"reason\": ", i ? ", " : "");
        print_string(f, k->reason[i].text);
        fprintf(f, ", \"count\": %llu}", (unsigned long long)k->reason[i].count);
    }
    fputs("]}", f);
}

static void print_json(FILE *f)
{
    fprintf(f, "{\n  \"process\": {\"pid\": %d, \"name\": ", (int)getpid());
    print_string(f, program_invocation_short_name);
    fprintf(f, "},\n  \"devices\": %u,\n", gs_group()->n);
    for (int p = 0; p < PHASES; p++)
        fprintf(f, "  \"%s_ns\": %llu,\n", phase_names[p], (unsigned long long)gs_busy_ns(&phases[p]));
    fputs("  \"kernels\": [\n", f);
    for (const struct gs_kernel_stats *k = kernels; k; k = k->next) {
        print_kernel_json(f, k);
        fputs(k->next ? ",\n" : "\n", f);
    }
    fputs("  ],\n  \"bytes\": {", f);
    for (int p = 0; p < GS_PATHS; p++)
        fprintf(f, "%s\"%s\": {\"bytes\": %llu, \"transfers\": %llu, \"ns\": %llu}", p ? ", " : "", path_names[p],
                (unsigned long long)moved[p], (unsigned long long)moves[p], (unsigned long long)gs_busy_ns(&busy[p]));
    fputs("}\n}\n", f);
}

static bool ends_in_json(const char *file)
{
    const size_t n = strlen(file);
    return n > 5 && strcmp(file + n - 5, ".json") == 0;
}

/* To the end of what the application has written, if it is where that goes. */
static FILE *open_report(const char *file)
{
    const int stream = gs_stream_of(file), copy = stream ? fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    return stream ? fdopen(copy, "w") : fopen(file, "w");
}

/* Who has asked for statistics and sees none should know why. Of an application's processes that is the one that was
 * started, and it had no others that may have made a kernel. */
static void say_nothing_was_seen(void)
{
    const char *run = getenv("GPUSPARC_RUN"), *wanted = getenv("GPUSPARC_STATS");
    struct rusage others;
    if (run && wanted && *wanted && atol(run) == (long)getpid() && getrusage(RUSAGE_CHILDREN, &others) == 0 &&
        others.ru_maxrss == 0)
        gs_error("there are no statistics: %s made no OpenCL kernel under gpusparc", program_invocation_short_name);
}

/* The process ends. No OpenCL calls here: the driver may be gone already. */
__attribute__((destructor)) static void print_stats(void)
{
    if (!kernels)
        say_nothing_was_seen();
    if (!kernels || gs_forked() || !gs_settings()->stats)
        return;
    const char *wanted = gs_settings()->stats;
    char file[PATH_MAX + 32];
    const bool json = ends_in_json(wanted), to_stderr = strcmp(wanted, "-") == 0;
    if (taken && json)
        snprintf(file, sizeof file, "%.*s.%d.json", (int)(strlen(wanted) - 5), wanted, (int)getpid());
    else if (taken)
        snprintf(file, sizeof file, "%s.%d", wanted, (int)getpid());
    else
        snprintf(file, sizeof file, "%s", wanted);
    FILE *f = to_stderr ? stderr : open_report(file);
    if (!f) {
        gs_error("the statistics can't be written to %s: %s", file, strerror(errno));
        return;
    }
    /* Whoever of the driver's threads holds it may be gone. */
    const struct timespec soon = {time(NULL) + 1, 0};
    const bool locked = pthread_mutex_timedlock(&lock, &soon) == 0;
    if (json)
        print_json(f);
    else
        print_table(f);
    if (locked)
        pthread_mutex_unlock(&lock);
    if (to_stderr)
        fflush(f);
    else if (fclose(f) != 0)
        gs_error("the statistics can't be written to %s: %s", file, strerror(errno));
}
