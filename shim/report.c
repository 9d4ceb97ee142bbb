/* SPDX-License-Identifier: MIT */
#include "shim/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

enum { MAX_REASONS = 8, MAX_REASON_BYTES = 160 };

struct gs_kernel_stats {
    char *name;
    uint64_t launches, split, compared, verified, wrong;
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
static atomic_uint_fast64_t moved[GS_PATHS], moves[GS_PATHS];

static const char *const path_names[GS_PATHS] = {
    [GS_PATH_APP_WRITE] = "app_write", [GS_PATH_APP_READ] = "app_read", [GS_PATH_COPY] = "copy",
    [GS_PATH_HOST] = "host",           [GS_PATH_PINNED] = "pinned",     [GS_PATH_PEER] = "peer",
    [GS_PATH_MERGE] = "merge",         [GS_PATH_REDUCE] = "reduce",
};

void gs_report_moved(enum gs_path path, uint64_t bytes)
{
    atomic_fetch_add_explicit(&moved[path], bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&moves[path], 1, memory_order_relaxed);
}

struct gs_kernel_stats *gs_report_kernel(const char *name)
{
    pthread_mutex_lock(&lock);
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

void gs_report_single(struct gs_kernel_stats *k, const char *reason)
{
    if (!k)
        return;
    pthread_mutex_lock(&lock);
    k->launches++;
    unsigned i = 0;
    while (i < k->n_reasons && strncmp(k->reason[i].text, reason, MAX_REASON_BYTES - 1) != 0)
        i++;
    if (i == k->n_reasons && i < MAX_REASONS)
        snprintf(k->reason[k->n_reasons++].text, MAX_REASON_BYTES, "%s", reason);
    if (i < MAX_REASONS)
        k->reason[i].count++;
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

void gs_report_ran(const struct gs_ran *ran)
{
    (void)ran;
}

struct timed {
    struct gs_kernel_stats *k;
    unsigned device;
};

static void CL_CALLBACK add_time(cl_event event, cl_int status, void *data)
{
    struct timed *t = data;
    cl_ulong start, end;
    if (status == CL_COMPLETE &&
        gs_real()->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) ==
            CL_SUCCESS &&
        gs_real()->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) == CL_SUCCESS) {
        pthread_mutex_lock(&lock);
        t->k->busy_ns[t->device] += end > start ? end - start : 0;
        pthread_mutex_unlock(&lock);
    }
    gs_real()->clReleaseEvent(event);
    free(t);
}

void gs_report_time(struct gs_kernel_stats *k, cl_event event, unsigned device)
{
    struct timed *t = k ? malloc(sizeof *t) : NULL;
    if (!t)
        return;
    *t = (struct timed){k, device};
    if (gs_real()->clRetainEvent(event) != CL_SUCCESS) {
        free(t);
        return;
    }
    if (gs_real()->clSetEventCallback(event, CL_COMPLETE, add_time, t) != CL_SUCCESS) {
        gs_real()->clReleaseEvent(event);
        free(t);
    }
}

static void print_table(FILE *f)
{
    fprintf(f, "gpusparc: %-28s %8s %8s %6s %12s  %s\n", "kernel", "launches", "split", "parts", "device ms",
            "not split because");
    for (const struct gs_kernel_stats *k = kernels; k; k = k->next) {
        uint64_t busy = 0;
        for (unsigned d = 0; d < GS_MAX_DEVICES; d++)
            busy = k->busy_ns[d] > busy ? k->busy_ns[d] : busy;
        fprintf(f, "gpusparc: %-28s %8llu %8llu %6u %12.3f", k->name, (unsigned long long)k->launches,
                (unsigned long long)k->split, k->most_parts, (double)busy / 1e6);
        for (unsigned i = 0; i < k->n_reasons; i++)
            fprintf(f, "%s %s (%llu)", i ? ";" : " ", k->reason[i].text, (unsigned long long)k->reason[i].count);
        if (k->chosen && k->single_ns && k->split_ns)
            fprintf(f, "  [expected: one device %.3f ms, split %.3f ms]", (double)k->single_ns / 1e6,
                    (double)k->split_ns / 1e6);
        if (k->verified)
            fprintf(f, "  verified %llu, wrong %llu", (unsigned long long)k->verified, (unsigned long long)k->wrong);
        fputc('\n', f);
    }
    fprintf(f, "gpusparc: bytes:");
    for (int p = 0; p < GS_PATHS; p++)
        if (moves[p])
            fprintf(f, " %s %llu (%llu)", path_names[p], (unsigned long long)moved[p], (unsigned long long)moves[p]);
    fputc('\n', f);
}

static void print_string(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20)
            fprintf(f, "\\u%04x", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

static void print_kernel_json(FILE *f, const struct gs_kernel_stats *k)
{
    fputs("    {\"name\": ", f);
    print_string(f, k->name);
    fprintf(f, ", \"launches\": %llu, \"split\": %llu, \"parts\": %u, \"dim\": %u, \"verified\": %llu, \"wrong\": %llu",
            (unsigned long long)k->launches, (unsigned long long)k->split, k->most_parts, k->last_dim,
            (unsigned long long)k->verified, (unsigned long long)k->wrong);
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
    fprintf(f, "{\n  \"devices\": %u,\n  \"kernels\": [\n", gs_group()->n);
    for (const struct gs_kernel_stats *k = kernels; k; k = k->next) {
        print_kernel_json(f, k);
        fputs(k->next ? ",\n" : "\n", f);
    }
    fputs("  ],\n  \"bytes\": {", f);
    for (int p = 0; p < GS_PATHS; p++)
        fprintf(f, "%s\"%s\": {\"bytes\": %llu, \"transfers\": %llu}", p ? ", " : "", path_names[p],
                (unsigned long long)moved[p], (unsigned long long)moves[p]);
    fputs("}\n}\n", f);
}

/* The process ends. No OpenCL calls here: the driver may be gone already. */
__attribute__((destructor)) static void print_stats(void)
{
    if (!kernels || gs_forked() || !gs_settings()->stats)
        return;
    const char *file = gs_settings()->stats;
    const size_t n = strlen(file);
    const bool json = n > 5 && strcmp(file + n - 5, ".json") == 0, to_stderr = strcmp(file, "-") == 0;
    FILE *f = to_stderr ? stderr : fopen(file, "w");
    if (!f) {
        gs_error("the statistics can't be written to %s: %s", file, strerror(errno));
        return;
    }
    pthread_mutex_lock(&lock);
    if (json)
        print_json(f);
    else
        print_table(f);
    pthread_mutex_unlock(&lock);
    if (to_stderr)
        fflush(f);
    else if (fclose(f) != 0)
        gs_error("the statistics can't be written to %s: %s", file, strerror(errno));
}
