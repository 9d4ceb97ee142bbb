/* SPDX-License-Identifier: MIT */
/* gpusparc-link-probe: measures what the links of a group of devices carry. Reads the group's settings from standard
 * input, a line NAME=VALUE each, and a line `host` or `peer` for `gpusparc devices --measure`: the links to the host
 * and through it, or the windows between GPUs (which a driver may crash at: hence a process of its own). Answers in
 * JSON. For an application under way: `brief`, what it costs between devices, as lines of shim/devices/links.h; or
 * `windows`, whether GPUs reach each other's memory through windows, "ok" or "no: why", and then the same lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/devices/group.h"
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

/* In a tenth of a second. Through the host's memory, beside what is known of windows. */
static int measure_briefly(struct gs_meter *b, struct gs_links *links)
{
    char text[GS_LINKS_TEXT_BYTES] = "";
    if (b->way == GS_BY_COPY || gs_meter_host_memory(b, false) == CL_SUCCESS)
        links->host = gs_meter_cost(b);
    const size_t bytes = gs_links_print(links, text);
    fwrite(text, 1, bytes, stdout);
    return bytes ? 0 : 1;
}

static bool open_windows(struct gs_meter *b, const struct gs_group *g, char *why, size_t why_bytes)
{
    b->windows = (struct gs_windows){.n = g->n, .bytes = b->bytes};
    return gs_windows_open(&b->windows, b->ctx, g->dev, why, why_bytes) == 0 &&
           gs_windows_try(&b->windows, b->ctx, g->dev, why, why_bytes) == 0;
}

static int try_windows(struct gs_meter *b, const struct gs_group *g)
{
    char why[256] = "";
    struct gs_links links = {{0, 0}, {0, 0}};
    const bool open = open_windows(b, g, why, sizeof why);
    printf(open ? "ok\n" : "no: %s\n", why);
    fflush(stdout);
    if (open) {
        b->way = GS_BY_PEER;
        links.peer = gs_meter_cost(b);
    }
    b->way = GS_BY_PINNED;
    measure_briefly(b, &links);
    return 0;
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
    if (asks == ASKS_WINDOWS)
        return try_windows(&b, &group);
    if (asks == ASKS_BRIEF)
        return measure_briefly(&b, &(struct gs_links){{0, 0}, {0, 0}});
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
