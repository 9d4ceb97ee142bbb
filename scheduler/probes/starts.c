/* SPDX-License-Identifier: MIT */
/* gpusparc probe starts: when each warp of a group starts, and how often that differs (the Fermi report, section 5.2,
 * tables 5 and 6). */
#include <stdlib.h>
#include <string.h>

#include "common/chart.h"
#include "common/log.h"
#include "scheduler/probes/probe.h"

extern const char gs_probe_order_cl[];

enum { WARP = 32, MAX_WARPS = 32 };

/* The times of one run after its first warp's, in the clock's ticks. */
struct pattern {
    uint64_t start[MAX_WARPS];
};

struct starts {
    struct probe base;
    /* The options. */
    uint64_t runs, warps, schedulers;

    enum probe_clock clock;
    cl_program program;
    cl_kernel kernel;
    cl_mem out;
    struct pattern *seen; /* of `done` runs */
    uint64_t done;
};

/* What came how often. */
struct finding {
    const struct pattern *pattern; /* null: there is none */
    uint64_t times;
};

static bool run_once(struct starts *p, struct pattern *seen)
{
    const size_t local = p->warps * WARP;
    cl_command_queue queue = p->base.device.queue;
    uint64_t first = UINT64_MAX;
    memset(seen, 0, sizeof *seen);
    cl_int rc = clEnqueueNDRangeKernel(queue, p->kernel, 1, NULL, &local, &local, 0, NULL, NULL);
    rc = rc ? rc : clEnqueueReadBuffer(queue, p->out, CL_TRUE, 0, p->warps * sizeof(uint64_t), seen, 0, NULL, NULL);
    for (uint64_t w = 0; w < p->warps; w++)
        first = seen->start[w] < first ? seen->start[w] : first;
    for (uint64_t w = 0; w < p->warps; w++)
        seen->start[w] -= first;
    return probe_ok(rc, "run a kernel");
}

static bool measure(void *probe)
{
    struct starts *p = probe;
    struct pattern warm;
    bool warmed = false;
    while (p->done < p->runs && probe_go_on(&p->base)) {
        probe_progress(&p->base, "runs", p->done, p->runs);
        if ((!warmed && !run_once(p, &warm)) || !run_once(p, &p->seen[p->done]))
            return false;
        warmed = true;
        p->done++;
    }
    return true;
}

static int by_times(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct pattern));
}

/* The most frequent pattern, and of the others the most frequent; sorts the runs. Returns how many patterns came. */
static uint64_t find(struct starts *p, struct finding *common, struct finding *exception)
{
    uint64_t patterns = 0;
    *common = *exception = (struct finding){0};
    qsort(p->seen, p->done, sizeof *p->seen, by_times);
    for (uint64_t from = 0, to; from < p->done; from = to) {
        for (to = from + 1; to < p->done && by_times(&p->seen[from], &p->seen[to]) == 0;)
            to++;
        const struct finding f = {&p->seen[from], to - from};
        if (f.times > common->times) {
            *exception = *common;
            *common = f;
        } else if (f.times > exception->times) {
            *exception = f;
        }
        patterns++;
    }
    return patterns;
}

static uint64_t runs_done(void *probe, uint64_t *all)
{
    const struct starts *p = probe;
    *all = p->runs;
    return p->done;
}

static void describe(void *probe, char *line, size_t bytes)
{
    const struct starts *p = probe;
    snprintf(line, bytes, "%llu runs, %llu warps", (unsigned long long)p->runs, (unsigned long long)p->warps);
}

static bool data(void *probe, struct probe_state *s)
{
    struct starts *p = probe;
    return probe_state_bytes(s, &p->done, sizeof p->done) && p->done <= p->runs &&
           probe_state_bytes(s, p->seen, p->done * sizeof *p->seen);
}

static bool prepare(void *probe)
{
    struct starts *p = probe;
    const struct probe_device *d = &p->base.device;
    const cl_uint base = 0;
    if (!p->schedulers)
        p->schedulers = d->is_nvidia ? 4 : 1; /* since Volta: four */
    if (!probe_need_clock(d, false, "", &p->clock) || !probe_warps_fit(d, (unsigned)p->warps))
        return false;
    p->seen = malloc(p->runs * sizeof *p->seen);
    if (!p->seen) {
        gs_error("there is not enough memory for %llu runs", (unsigned long long)p->runs);
        return false;
    }
    p->program = probe_build(d, gs_probe_order_cl, p->clock, "");
    p->kernel = probe_kernel(p->program, "by_clock");
    p->out = p->kernel ? probe_buffer(d, MAX_WARPS * sizeof(uint64_t)) : NULL;
    if (!p->out)
        return false;
    const cl_int rc = clSetKernelArg(p->kernel, 0, sizeof(cl_mem), &p->out);
    return probe_ok(rc ? rc : clSetKernelArg(p->kernel, 1, sizeof base, &base), "take a kernel's arguments");
}

/* A line for each time at which a warp starts, with the warps in their scheduler's column. */
static void print_pattern(const struct starts *p, const char *what, const struct finding *f)
{
    printf("\n%s, %llu of %llu runs\n%10s", what, (unsigned long long)f->times, (unsigned long long)p->done, "cycle");
    for (uint64_t s = 0; s < p->schedulers; s++)
        printf("  scheduler %-2llu", (unsigned long long)s);
    putchar('\n');
    for (uint64_t next = 0, at; next < UINT64_MAX;) {
        at = UINT64_MAX;
        for (uint64_t w = 0; w < p->warps; w++)
            if (f->pattern->start[w] >= next && f->pattern->start[w] < at)
                at = f->pattern->start[w];
        if (at == UINT64_MAX)
            return;
        printf("%10llu", (unsigned long long)at);
        for (uint64_t s = 0; s < p->schedulers; s++) {
            char cell[100] = "";
            for (uint64_t w = s; w < p->warps; w += p->schedulers)
                if (f->pattern->start[w] == at)
                    snprintf(cell + strlen(cell), sizeof cell - strlen(cell), "%s%llu", *cell ? " " : "",
                             (unsigned long long)w);
            printf("  %-12s", cell);
        }
        putchar('\n');
        next = at + 1;
    }
}

static void print_table(void *probe)
{
    struct starts *p = probe;
    struct finding common, exception;
    const uint64_t patterns = find(p, &common, &exception);
    printf("%s, %s, a group of %llu warps: %llu different patterns of starting times in %llu runs\n",
           p->base.device.name, probe_clock_name(p->clock), (unsigned long long)p->warps, (unsigned long long)patterns,
           (unsigned long long)p->done);
    if (p->base.device.is_cpu)
        printf("(the first of each warp's 32 work-items, which run one after another)\n");
    if (common.pattern)
        print_pattern(p, "the common case", &common);
    if (exception.pattern)
        print_pattern(p, "an exception", &exception);
}

static json_t *finding_json(const struct starts *p, const struct finding *f)
{
    if (!f->pattern)
        return json_null();
    json_t *list = json_array();
    for (uint64_t w = 0; w < p->warps; w++)
        json_array_append_new(list, json_integer((json_int_t)f->pattern->start[w]));
    return json_pack("{s:I, s:o}", "runs", (json_int_t)f->times, "starts", list);
}

static void add_json(void *probe, json_t *j)
{
    struct starts *p = probe;
    struct finding common, exception;
    const uint64_t patterns = find(p, &common, &exception);
    json_object_set_new(j, "clock", json_string(probe_clock_name(p->clock)));
    json_object_set_new(j, "warps", json_integer((json_int_t)p->warps));
    json_object_set_new(j, "schedulers", json_integer((json_int_t)p->schedulers));
    json_object_set_new(j, "runs", json_integer((json_int_t)p->done));
    json_object_set_new(j, "patterns", json_integer((json_int_t)patterns));
    json_object_set_new(j, "common", finding_json(p, &common));
    json_object_set_new(j, "exception", finding_json(p, &exception));
}

static void plot(void *probe, FILE *f)
{
    struct starts *p = probe;
    struct finding found[2];
    double warp[MAX_WARPS], at[2][MAX_WARPS];
    struct gs_curve curves[2];
    size_t n = 0;
    char title[200];
    find(p, &found[0], &found[1]);
    for (int k = 0; k < 2 && found[k].pattern; k++, n++) {
        for (uint64_t w = 0; w < p->warps; w++) {
            warp[w] = (double)w;
            at[k][w] = (double)found[k].pattern->start[w];
        }
        curves[k] =
            (struct gs_curve){.name = k ? "an exception" : "common case", .x = warp, .y = at[k], .n = (size_t)p->warps};
    }
    snprintf(title, sizeof title, "%s: when each warp of a group starts, %llu runs", p->base.device.name,
             (unsigned long long)p->done);
    const struct gs_panel panel = {.x = {.label = "warp"},
                                   .y = {.label = "cycles after the first warp", .from_zero = true},
                                   .curves = curves,
                                   .n_curves = n};
    const struct gs_chart chart = {.title = title, .panels = &panel, .n = 1, .columns = 1, .width = 520, .height = 300};
    gs_chart_write(&chart, f);
}

static void release(void *probe)
{
    struct starts *p = probe;
    probe_drop_kernels(&p->kernel, 1);
    probe_drop_program(&p->program);
    probe_drop_buffers(&p->out, 1);
    free(p->seen);
}

enum { WARPS = PROBE_OWN_OPTIONS, RUNS, SCHEDULERS };

static const struct option own_options[] = {{"warps", required_argument, NULL, WARPS},
                                            {"runs", required_argument, NULL, RUNS},
                                            {"schedulers", required_argument, NULL, SCHEDULERS},
                                            {0}};

static void set_defaults(void *probe)
{
    struct starts *p = probe;
    p->runs = 100;
    p->warps = 16;
}

static bool take_option(void *probe, int option, const char *value)
{
    struct starts *p = probe;
    switch (option) {
    case WARPS:
        return probe_number("warps", value, 1, MAX_WARPS, &p->warps);
    case RUNS:
        return probe_number("runs", value, 1, 1000000, &p->runs);
    default:
        return probe_number("schedulers", value, 1, MAX_WARPS, &p->schedulers);
    }
}

const struct probe_kind probe_starts = {
    .name = "starts",
    .bytes = sizeof(struct starts),
    .set_defaults = set_defaults,
    .options = own_options,
    .take_option = take_option,
    .prepare = prepare,
    .describe = describe,
    .data = data,
    .measure = measure,
    .counts = "runs",
    .done = runs_done,
    .print_table = print_table,
    .add_json = add_json,
    .plot = plot,
    .release = release,
};
