/* SPDX-License-Identifier: MIT */
/* gpusparc-link-probe: measures what the links of a group of devices carry. Reads the group's settings from standard
 * input, a line NAME=VALUE each, and a line `host` or `peer` for `gpusparc devices --measure`: the links to the host
 * and through it, or the windows between GPUs (which a driver may crash at: hence a process of its own). Answers in
 * JSON. Or `brief`, for an application under way: what it costs between devices, as lines of shim/record/links.h.
 */
#include <stdio.h>
#include <string.h>

#include "shim/record/group.h"
#include "shim/probe/meter.h"

enum { RUNS = 5, BRIEF_BYTES = 16 * 1024 * 1024, LARGE_BYTES = 64 * 1024 * 1024 };

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

static int measure_briefly(struct gs_meter *b)
{
    char text[GS_LINKS_TEXT_BYTES] = "";
    if (b->way == GS_BY_PINNED && gs_meter_host_memory(b, false) != CL_SUCCESS)
        return 1;
    const struct gs_links links = {.host = gs_meter_cost(b)};
    const size_t bytes = gs_links_print(&links, text);
    fwrite(text, 1, bytes, stdout);
    return bytes ? 0 : 1;
}

int main(void)
{
    struct gs_settings settings = {0};
    struct gs_group group;
    struct gs_meter b;
    char line[512], why[256] = "";
    bool peer = false, brief = false, first = true;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        char *value = strchr(line, '=');
        if (value)
            *value++ = '\0';
        peer = peer || strcmp(line, "peer") == 0;
        brief = brief || strcmp(line, "brief") == 0;
        if (value && gs_settings_set(&settings, line, line, value, why, sizeof why) < 0)
            return 1;
    }
    cl_int err;
    if (gs_group_make(&group, &settings, why, sizeof why) < 0)
        return 1;
    cl_context ctx = gs_real()->clCreateContext(NULL, group.n, group.dev, NULL, NULL, &err);
    if (err || gs_meter_make(&b, ctx, group.dev, group.n, brief ? BRIEF_BYTES : LARGE_BYTES) != CL_SUCCESS)
        return 1;
    b.way = settings.transfer == GS_TRANSFER_PLAIN ? GS_BY_COPY : GS_BY_PINNED;
    if (brief)
        return measure_briefly(&b);
    if (peer) {
        if (gs_windows_open(&b.windows, ctx, group.dev, group.n, LARGE_BYTES, why, sizeof why) < 0 ||
            gs_windows_try(&b.windows, ctx, group.dev, why, sizeof why) < 0)
            return 1;
        b.way = GS_BY_PEER;
    } else if (gs_meter_host_memory(&b, true) != CL_SUCCESS) {
        return 1;
    }
    putchar('[');
    if (!peer)
        print_host_links(&b, &first);
    if (!group.shared_memory || settings.transfer == GS_TRANSFER_PINNED || settings.transfer == GS_TRANSFER_PLAIN)
        print_pairs(&b, &first);
    puts("]");
    return 0;
}
