/* SPDX-License-Identifier: MIT */
/* gpusparc-link-probe: measures what the links of a group of devices carry. Reads the group's settings from standard
 * input, a line NAME=VALUE each, and a line `host` or `peer` for `gpusparc devices --measure`: the links to the host
 * and through it, or the windows between GPUs (which a driver may crash at: hence a process of its own). Answers in
 * JSON. For an application under way: `brief`, what it costs between devices, as lines of common/links.h; or
 * `windows`, whether GPUs reach each other's memory through windows, "ok" or "no: why". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/devices/group.h"
#include "shim/driver/enqueue.h"
#include "cli/link_probe/meter.h"

enum { RUNS = 5, BRIEF_BYTES = 16 * 1024 * 1024, LARGE_BYTES = 64 * 1024 * 1024 };
static const char *const questions[] = {"host", "peer", "brief", "windows"};
enum { ASKS_HOST, ASKS_PEER, ASKS_BRIEF, ASKS_WINDOWS, QUESTIONS };

static void print_link(struct gs_meter *b, const struct gs_meter_link *l, const char *path, bool *first)
{
    double latency_us, gb_per_s;
    if (!gs_meter_measure(b, l, GS_METER_RUNS, RUNS, &latency_us, &gb_per_s))
        return;
    printf("%s{\"from\": ", *first ? "" : ", ");
    printf(l->from < 0 ? "\"host\"" : "%d", l->from);
    printf(", \"to\": ");
    printf(l->to < 0 ? "\"host\"" : "%d", l->to);
    printf(", \"path\": \"%s\", \"latency_us\": %.2f, \"gb_per_s\": %.3f}", path, latency_us, gb_per_s);
    *first = false;
}

static void print_pairs(struct gs_meter *b, bool *first)
{
    static const char *const paths[] = {[GS_BY_PEER] = "peer", [GS_BY_PINNED] = "pinned", [GS_BY_COPY] = "copy"};
    for (int i = 0; i < (int)b->n; i++)
        for (int j = 0; j < (int)b->n; j++)
            if (i != j)
                print_link(b, &(struct gs_meter_link){i, j, true}, paths[b->way], first);
}

static void print_host_links(struct gs_meter *b, bool *first)
{
    for (int i = 0; i < (int)b->n; i++)
        for (int pinned = 0; pinned < 2; pinned++) {
            print_link(b, &(struct gs_meter_link){-1, i, pinned}, pinned ? "pinned" : "pageable", first);
            print_link(b, &(struct gs_meter_link){i, -1, pinned}, pinned ? "pinned" : "pageable", first);
        }
}

/* In a tenth of a second, through the host's memory. */
static struct gs_link_cost measure_host(struct gs_meter *b)
{
    const bool ready = b->way == GS_BY_COPY || gs_meter_host_memory(b, false) == CL_SUCCESS;
    return ready ? gs_meter_cost(b) : (struct gs_link_cost){0, 0};
}

static int print(const struct gs_links *links)
{
    char text[GS_LINKS_TEXT_BYTES] = "";
    const size_t bytes = gs_links_print(links, text);
    fwrite(text, 1, bytes, stdout);
    return bytes ? 0 : 1;
}

/* 0: one device writes a pattern into its window, and another finds the same bytes there. */
static cl_int send_pattern(const struct gs_windows *w, unsigned from, unsigned to, cl_command_queue out,
                           cl_command_queue in)
{
    enum { N = 4096 };
    cl_uint sent[N], got[N];
    for (cl_uint i = 0; i < N; i++) {
        sent[i] = i * 2654435761u + from * 97 + to;
        got[i] = ~sent[i];
    }
    cl_int err = gs_enqueue_blocking(gs_op_write(w->seen[from][from], w->bytes - sizeof sent, sizeof sent, sent), out);
    if (!err)
        err = gs_enqueue_blocking(gs_op_read(w->seen[from][to], w->bytes - sizeof got, sizeof got, got), in);
    return err ? err : memcmp(sent, got, sizeof sent) ? -1 : 0;
}

/* From each device to each other. 0, or -ENOTSUP with one sentence in `why`. */
static int send_through(const struct gs_windows *w, cl_context ctx, const cl_device_id *dev, char *why,
                        size_t why_bytes)
{
    cl_command_queue queue[GS_MAX_DEVICES] = {NULL};
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < w->n && !err; i++)
        queue[i] = gs_real()->clCreateCommandQueue(ctx, dev[i], 0, &err);
    for (unsigned i = 0; i < w->n && !err; i++)
        for (unsigned j = 0; j < w->n && !err; j++)
            if ((err = send_pattern(w, i, j, queue[i], queue[j])) != 0)
                snprintf(why, why_bytes, "device %u does not see device %u's window (error %d)", j, i, err);
    for (unsigned i = 0; i < w->n; i++)
        if (queue[i])
            gs_real()->clReleaseCommandQueue(queue[i]);
    return err ? -ENOTSUP : 0;
}

static bool open_windows(struct gs_meter *b, const struct gs_group *g, char *why, size_t why_bytes)
{
    b->windows = (struct gs_windows){.n = g->n, .bytes = b->bytes};
    return gs_windows_open(&b->windows, b->ctx, g->dev, why, why_bytes) == 0 &&
           send_through(&b->windows, b->ctx, g->dev, why, why_bytes) == 0;
}

int main(void)
{
    struct gs_settings settings = {0};
    struct gs_group group;
    struct gs_meter b;
    char line[512], why[256] = "";
    unsigned asks = ASKS_HOST;
    bool first = true;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        char *value = strchr(line, '=');
        if (value)
            *value++ = '\0';
        for (unsigned i = 0; i < QUESTIONS; i++)
            asks = strcmp(line, questions[i]) == 0 ? i : asks;
        if (value && (gs_settings_set(&settings, line, line, value, why, sizeof why) < 0 || setenv(line, value, 1) < 0))
            return 1;
    }
    cl_int err;
    if (gs_group_make(&group, &settings, why, sizeof why) < 0)
        return 1;
    cl_context ctx = gs_real()->clCreateContext(NULL, group.n, group.dev, NULL, NULL, &err);
    const bool large = asks == ASKS_HOST || asks == ASKS_PEER;
    if (err || gs_meter_make(&b, ctx, group.dev, group.n, large ? LARGE_BYTES : BRIEF_BYTES) != CL_SUCCESS)
        return 1;
    b.way = settings.transfer == GS_TRANSFER_PLAIN ? GS_BY_COPY : GS_BY_PINNED;
    if (asks == ASKS_WINDOWS) {
        printf(open_windows(&b, &group, why, sizeof why) ? "ok\n" : "no: %s\n", why);
        return 0;
    }
    if (asks == ASKS_BRIEF)
        return print(&(struct gs_links){measure_host(&b), {0, 0}});
    if (asks == ASKS_PEER ? !open_windows(&b, &group, why, sizeof why) : gs_meter_host_memory(&b, true) != CL_SUCCESS)
        return 1;
    if (asks == ASKS_PEER)
        b.way = GS_BY_PEER;
    putchar('[');
    if (asks == ASKS_HOST)
        print_host_links(&b, &first);
    if (!group.shared_memory || settings.transfer == GS_TRANSFER_PINNED || settings.transfer == GS_TRANSFER_PLAIN)
        print_pairs(&b, &first);
    puts("]");
    return 0;
}
