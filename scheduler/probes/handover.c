/* SPDX-License-Identifier: MIT */
/* gpusparc probe handover: how long a device idles when it passes from one process to another, for `handover` of the
 * config (docs/analysis.md, Hand-overs). Two processes, each with a context of its own, take turns at one kernel; this
 * one, in the daemon's place, hears of each turn's end and gives the next. What a turn takes beyond its kernel the
 * device is idle. Turns of one process alone, measured in between, tell what of that is asking and hearing. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/config.h"
#include "common/chart.h"
#include "common/log.h"
#include "scheduler/probes/probe.h"

extern const char gs_probe_handover_cl[];

enum {
    PROCESSES = 2,
    BATCH = 32,    /* turns of a kind in a row */
    SETTLE = 2,    /* of which so many don't count */
    IN_A_ROW = 16, /* kernels by which one's time is known */
    GROUP = 64,
    GROUPS_PER_UNIT = 4,
    MAX_RUNS = 10000000,
};

enum kind { STAYS, CHANGES, KINDS };

static const char *const kind_names[KINDS] = {"stays", "changes hands"};

/* A process that takes turns: it writes what its kernel takes, in nanoseconds, once it is ready; then, for each byte
 * that it reads, when its turn ended. */
struct player {
    pid_t pid;
    int to, from;
    uint64_t kernel_ns;
};

struct handover {
    struct probe base;
    uint64_t runs, kernel_us, margin;
    struct player player[PROCESSES];
    uint32_t *idle_ns[KINDS]; /* in the order measured, of each turn that counts */
    uint64_t n[KINDS];
};

static uint64_t now_ns(void)
{
    return (uint64_t)(probe_seconds() * 1e9);
}

/* All bytes, whatever the pipe takes or gives at a time. */
static bool move(int fd, void *bytes, size_t n, bool writes)
{
    for (size_t done = 0; done < n;) {
        const ssize_t r = writes ? write(fd, (char *)bytes + done, n - done) : read(fd, (char *)bytes + done, n - done);
        if (r == 0 || (r < 0 && errno != EINTR))
            return false;
        done += r > 0 ? (size_t)r : 0;
    }
    return true;
}

/* ---- one that takes turns ---- */

struct turns {
    struct probe_device device;
    cl_kernel kernel;
    size_t global;
};

static bool run_kernels(struct turns *t, unsigned n)
{
    const size_t local = GROUP;
    cl_int rc = CL_SUCCESS;
    for (unsigned i = 0; i < n && !rc; i++)
        rc = clEnqueueNDRangeKernel(t->device.queue, t->kernel, 1, NULL, &t->global, &local, 0, NULL, NULL);
    return probe_ok(rc ? rc : clFinish(t->device.queue), "run a kernel");
}

static bool time_kernels(struct turns *t, unsigned n, uint64_t *ns)
{
    const uint64_t begin = now_ns();
    const bool ok = run_kernels(t, n);
    *ns = now_ns() - begin;
    return ok;
}

/* What one kernel takes: the least by which one more makes a row longer. */
static bool time_one(struct turns *t, uint64_t *ns)
{
    *ns = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t one, row;
        if (!time_kernels(t, 1, &one) || !time_kernels(t, 1 + IN_A_ROW, &row))
            return false;
        if (row > one && (row - one) / IN_A_ROW < *ns)
            *ns = (row - one) / IN_A_ROW;
    }
    return true;
}

/* As many steps as make the kernel last as long as is asked for, or somewhat longer. */
static bool adjust(struct turns *t, uint64_t wanted_ns, uint64_t *ns)
{
    for (cl_uint steps = 256; steps < (cl_uint)1 << 30;) {
        if (!probe_ok(clSetKernelArg(t->kernel, 1, sizeof(steps), &steps), "set an argument") || !time_one(t, ns))
            return false;
        if (*ns >= wanted_ns)
            return true;
        const double factor = *ns && *ns < wanted_ns ? 1.1 * (double)wanted_ns / (double)*ns : 2;
        steps = (cl_uint)((factor > 8 ? 8 : factor) * steps) + 1;
    }
    gs_error("no kernel could be made that takes %llu us on this device; give a smaller --kernel",
             (unsigned long long)(wanted_ns / 1000));
    return false;
}

static bool take_turns(struct turns *t, unsigned device, uint64_t kernel_ns)
{
    if (!probe_open(&t->device, device))
        return false;
    cl_program program = probe_build(&t->device, gs_probe_handover_cl, PROBE_CLOCK_NONE, "");
    t->kernel = probe_kernel(program, "busy");
    t->global = (size_t)t->device.compute_units * GROUPS_PER_UNIT * GROUP;
    cl_mem out = t->kernel ? probe_buffer(&t->device, t->global * sizeof(cl_uint)) : NULL;
    uint64_t ns = 0;
    char turn;
    bool ok = out && probe_ok(clSetKernelArg(t->kernel, 0, sizeof(cl_mem), &out), "set an argument") &&
              adjust(t, kernel_ns, &ns) && move(STDOUT_FILENO, &ns, sizeof(ns), true);
    while (ok && move(STDIN_FILENO, &turn, 1, false)) {
        ok = run_kernels(t, 1);
        ns = now_ns();
        ok = ok && move(STDOUT_FILENO, &ns, sizeof(ns), true);
    }
    probe_drop_buffers(&out, 1);
    probe_drop_kernels(&t->kernel, 1);
    probe_drop_program(&program);
    probe_close(&t->device);
    return ok;
}

int probe_take_turns(int argc, char **argv)
{
    struct turns t = {0};
    uint64_t device, us;
    if (argc != 3 || !probe_number("device", argv[1], 0, 63, &device) ||
        !probe_number("kernel", argv[2], 1, 1000000, &us))
        return PROBE_EXIT_USAGE;
    signal(SIGPIPE, SIG_IGN);
    return take_turns(&t, (unsigned)device, us * 1000) ? PROBE_EXIT_OK : PROBE_EXIT_FAILED;
}

/* ---- the one in the daemon's place ---- */

/* In the child: becomes one that takes turns, which ends with the probe. */
static _Noreturn void become_player(pid_t parent, const int in[2], const int out[2], const struct handover *h)
{
    char device[24], us[24];
    snprintf(device, sizeof(device), "%llu", (unsigned long long)h->base.device_index);
    snprintf(us, sizeof(us), "%llu", (unsigned long long)h->kernel_us);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent && dup2(in[0], STDIN_FILENO) >= 0 && dup2(out[1], STDOUT_FILENO) >= 0) {
        signal(SIGINT, SIG_IGN); /* it ends when the probe does */
        signal(SIGTERM, SIG_IGN);
        for (int i = 0; i < 2; i++) {
            close(in[i]);
            close(out[i]);
        }
        execl("/proc/self/exe", "gpusparc-probe", PROBE_TURNS, device, us, (char *)NULL);
    }
    _exit(PROBE_EXIT_FAILED);
}

static bool start_player(struct handover *h, struct player *p)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0) {
        gs_error("a pipe can't be had: %s", strerror(errno));
        return false;
    }
    if (pipe2(out, O_CLOEXEC) != 0) {
        gs_error("a pipe can't be had: %s", strerror(errno));
        close(in[0]);
        close(in[1]);
        return false;
    }
    const pid_t self = getpid();
    p->pid = fork();
    if (p->pid == 0)
        become_player(self, in, out, h);
    close(in[0]);
    close(out[1]);
    p->to = in[1];
    p->from = out[0];
    if (p->pid < 0)
        gs_error("a process that takes turns can't be started: %s", strerror(errno));
    return p->pid > 0;
}

static bool prepare(void *probe)
{
    struct handover *h = probe;
    signal(SIGPIPE, SIG_IGN);
    for (enum kind k = STAYS; k < KINDS; k++)
        if (!(h->idle_ns[k] = calloc(h->runs, sizeof(**h->idle_ns)))) {
            gs_error("there is not enough memory for %llu turns", (unsigned long long)h->runs);
            return false;
        }
    for (int i = 0; i < PROCESSES; i++) {
        if (!start_player(h, &h->player[i]))
            return false;
        /* One after the other: each finds out alone how long its kernel takes. */
        if (!move(h->player[i].from, &h->player[i].kernel_ns, sizeof(uint64_t), false)) {
            gs_error("a process that is to take turns ended before it was ready");
            return false;
        }
    }
    return true;
}

/* *end_ns: when the turn before ended, then this one. */
static bool turn(struct handover *h, unsigned who, uint64_t *end_ns, uint64_t *idle_ns)
{
    struct player *p = &h->player[who];
    char go = 0;
    uint64_t end;
    if (!move(p->to, &go, 1, true) || !move(p->from, &end, sizeof(end), false)) {
        gs_error("a process that takes turns has ended");
        return false;
    }
    const uint64_t took = end - *end_ns;
    *idle_ns = took > p->kernel_ns ? took - p->kernel_ns : 0;
    *end_ns = end;
    return true;
}

static bool measure_batch(struct handover *h, enum kind kind)
{
    uint64_t end_ns = 0, idle_ns;
    const unsigned first = (unsigned)(h->n[kind] / BATCH % PROCESSES);
    for (unsigned i = 0; i < SETTLE + BATCH && h->n[kind] < h->runs; i++) {
        if (!turn(h, kind == CHANGES ? i % PROCESSES : first, &end_ns, &idle_ns))
            return false;
        if (i >= SETTLE)
            h->idle_ns[kind][h->n[kind]++] = idle_ns < UINT32_MAX ? (uint32_t)idle_ns : UINT32_MAX;
    }
    return true;
}

static uint64_t turns_done(void *probe, uint64_t *all)
{
    const struct handover *h = probe;
    *all = KINDS * h->runs;
    return h->n[STAYS] + h->n[CHANGES];
}

static bool measure(void *probe)
{
    struct handover *h = probe;
    while (h->n[CHANGES] < h->runs && probe_go_on(&h->base)) {
        if (!measure_batch(h, STAYS) || !measure_batch(h, CHANGES))
            return false;
        probe_progress(&h->base, "turns", h->n[CHANGES], h->runs);
    }
    return true;
}

/* ---- the report ---- */

struct figures {
    uint32_t median, p99, longest;
};

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The turns of a kind, the shortest first. malloc'd; NULL: there are none, or no memory. */
static uint32_t *sorted(const struct handover *h, enum kind k)
{
    const size_t n = h->n[k];
    uint32_t *v = n ? malloc(n * sizeof(*v)) : NULL;
    if (v) {
        memcpy(v, h->idle_ns[k], n * sizeof(*v));
        qsort(v, n, sizeof(*v), compare);
    }
    return v;
}

static struct figures figures_of(const struct handover *h, enum kind k)
{
    struct figures f = {0};
    const size_t n = h->n[k];
    uint32_t *v = sorted(h, k);
    if (v)
        f = (struct figures){v[n / 2], v[n * 99 / 100], v[n - 1]};
    free(v);
    return f;
}

/* The longest seen and the margin, in whole microseconds. */
static int64_t bound_ns(const struct handover *h, const struct figures *changes)
{
    const double with = (double)changes->longest * (100 + (double)h->margin) / 100;
    return ((int64_t)(with / 1000) + 1) * 1000;
}

static void print_table(void *probe)
{
    const struct handover *h = probe;
    char d[GS_DURATION_SIZE];
    printf("%s: how long it idles between two kernels of %.0f us, in us\n%-14s %10s %10s %10s %10s\n",
           h->base.device.name, (double)h->player[0].kernel_ns / 1e3, "the device", "turns", "median", "99 %",
           "longest");
    struct figures f = {0};
    for (enum kind k = STAYS; k < KINDS; k++) {
        f = figures_of(h, k);
        printf("%-14s %10llu %10.1f %10.1f %10.1f\n", kind_names[k], (unsigned long long)h->n[k], f.median / 1e3,
               f.p99 / 1e3, f.longest / 1e3);
    }
    if (h->n[CHANGES])
        printf("For the config, the longest and %llu %% more:\n[system]\nhandover = %s\n",
               (unsigned long long)h->margin, gs_format_duration(bound_ns(h, &f), d)); /* of the last, CHANGES */
}

static void add_json(void *probe, json_t *j)
{
    static const char *const names[KINDS] = {"stays", "changes"};
    const struct handover *h = probe;
    json_object_set_new(j, "kernel_ns", json_integer((json_int_t)h->player[0].kernel_ns));
    struct figures f = {0};
    for (enum kind k = STAYS; k < KINDS; k++) {
        f = figures_of(h, k);
        json_object_set_new(j, names[k],
                            json_pack("{s:I, s:I, s:I, s:I}", "turns", (json_int_t)h->n[k], "median_ns",
                                      (json_int_t)f.median, "p99_ns", (json_int_t)f.p99, "longest_ns",
                                      (json_int_t)f.longest));
    }
    json_object_set_new(j, "margin_percent", json_integer((json_int_t)h->margin));
    json_object_set_new(j, "handover_ns", json_integer(h->n[CHANGES] ? bound_ns(h, &f) : 0)); /* the last */
}

/* How many of the turns idle for longer, over how long. */
static void plot(void *probe, FILE *f)
{
    const struct handover *h = probe;
    struct gs_curve curves[KINDS];
    double *points[KINDS];
    for (enum kind k = STAYS; k < KINDS; k++) {
        const size_t n = h->n[k];
        uint32_t *v = sorted(h, k);
        points[k] = malloc((2 * n + 1) * sizeof *points[k]);
        for (size_t i = 0; v && points[k] && i < n; i++) {
            points[k][i] = v[i] / 1e3;
            points[k][n + i] = 100 * (double)(n - i) / (double)n;
        }
        curves[k] =
            (struct gs_curve){.name = kind_names[k], .x = points[k], .y = points[k] + n, .n = v && points[k] ? n : 0};
        free(v);
    }
    const struct gs_panel panel = {.kind = GS_PANEL_STEPS,
                                   .x = {.label = "the device idles between two kernels (us)", .log = true},
                                   .y = {.label = "turns, as long or longer (%)", .log = true},
                                   .curves = curves,
                                   .n_curves = KINDS};
    const struct gs_chart chart = {.title = h->base.device.name,
                                   .note =
                                       "the process that has the device stays the same, or the device changes hands",
                                   .panels = &panel,
                                   .n = 1,
                                   .columns = 1,
                                   .width = 620,
                                   .height = 380};
    gs_chart_write(&chart, f);
    for (enum kind k = STAYS; k < KINDS; k++)
        free(points[k]);
}

static void describe(void *probe, char *line, size_t bytes)
{
    const struct handover *h = probe;
    snprintf(line, bytes, "%llu us", (unsigned long long)h->kernel_us);
}

static bool data(void *probe, struct probe_state *s)
{
    struct handover *h = probe;
    bool ok = true;
    for (int k = 0; ok && k < KINDS; k++) {
        uint64_t n = h->n[k];
        ok = probe_state_bytes(s, &n, sizeof(n));
        for (uint64_t i = 0; ok && i < n; i++) {
            uint32_t v = i < h->n[k] ? h->idle_ns[k][i] : 0;
            ok = probe_state_bytes(s, &v, sizeof(v));
            if (i < h->runs)
                h->idle_ns[k][i] = v;
        }
        h->n[k] = n < h->runs ? n : h->runs;
    }
    return ok;
}

static void release(void *probe)
{
    struct handover *h = probe;
    for (int i = 0; i < PROCESSES; i++)
        if (h->player[i].pid > 0) {
            close(h->player[i].to);
            close(h->player[i].from);
            waitpid(h->player[i].pid, NULL, 0); /* it ends at the end of its pipe */
        }
    for (enum kind k = STAYS; k < KINDS; k++)
        free(h->idle_ns[k]);
}

/* ---- options ---- */

enum { RUNS = PROBE_OWN_OPTIONS, KERNEL, MARGIN };

static const struct option own_options[] = {{"runs", required_argument, NULL, RUNS},
                                            {"kernel", required_argument, NULL, KERNEL},
                                            {"margin", required_argument, NULL, MARGIN},
                                            {0}};

static void set_defaults(void *probe)
{
    struct handover *h = probe;
    h->runs = 2000;
    h->kernel_us = 200;
    h->margin = 20;
}

static bool take_option(void *probe, int option, const char *value)
{
    struct handover *h = probe;
    switch (option) {
    case RUNS:
        return probe_number("runs", value, 1, MAX_RUNS, &h->runs);
    case KERNEL:
        return probe_number("kernel", value, 1, 1000000, &h->kernel_us);
    default:
        return probe_number("margin", value, 0, 1000, &h->margin);
    }
}

const struct probe_kind probe_handover = {
    .name = "handover",
    .bytes = sizeof(struct handover),
    .set_defaults = set_defaults,
    .options = own_options,
    .take_option = take_option,
    .prepare = prepare,
    .describe = describe,
    .data = data,
    .measure = measure,
    .counts = "turns",
    .done = turns_done,
    .print_table = print_table,
    .add_json = add_json,
    .plot = plot,
    .release = release,
};
