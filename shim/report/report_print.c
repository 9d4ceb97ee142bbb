/* SPDX-License-Identifier: MIT */
#include "shim/report/report.h"

#include <locale.h>
#include <unistd.h>

#include "common/utf8.h"

enum { LEAST = 28, MOST = 48, TAIL = 16 }; /* characters of a kernel's name */

typedef unsigned long long number; /* as printf wants it */

static const char *const phase_names[GS_PHASES] = {"write", "kernel", "merge", "read"};
static const char *const path_names[GS_PATHS] = {
    [GS_PATH_APP_WRITE] = "app_write", [GS_PATH_APP_READ] = "app_read", [GS_PATH_COPY] = "copy",
    [GS_PATH_HOST] = "host",           [GS_PATH_PINNED] = "pinned",     [GS_PATH_PEER] = "peer",
    [GS_PATH_DIRECT] = "direct",       [GS_PATH_STAGED] = "staged",     [GS_PATH_MERGE] = "merge",
    [GS_PATH_REDUCE] = "reduce",
};

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static double mib(uint64_t bytes)
{
    return (double)bytes / 1048576;
}

uint64_t gs_report_kernel_ns(const struct gs_kernel_stats *k)
{
    uint64_t longest = 0;
    for (unsigned d = 0; d < GS_MAX_DEVICES; d++)
        longest = k->busy_ns[d] > longest ? k->busy_ns[d] : longest;
    return longest;
}

/* Devices of which it is known what they held. */
static unsigned count_held(const struct gs_report *r)
{
    unsigned n = GS_MAX_DEVICES;
    while (n && !r->space[n - 1])
        n--;
    return n;
}

/* ---- the table ---- */

static void print_kernel(FILE *f, const struct gs_kernel_stats *k, int width, uint64_t all_ns)
{
    const size_t n = strlen(k->name);
    const uint64_t ns = gs_report_kernel_ns(k);
    if (n > MOST) /* its beginning and end */
        fprintf(f, "gpusparc: %.*s..%s", MOST - TAIL - 2, k->name, k->name + n - TAIL);
    else
        fprintf(f, "gpusparc: %-*s", width, k->name);
    fprintf(f, " %8llu %8llu %6u %10.3f %5.1f %9.3f %9.3f", (number)k->launches, (number)k->split, k->most_parts,
            ms(ns), all_ns ? 100.0 * (double)ns / (double)all_ns : 0, ms(k->shortest_ns), ms(k->longest_ns));
    for (unsigned i = 0; i < GS_REPORT_COUNTS && k->reason[i].count; i++)
        fprintf(f, "%s %s (%llu)", i ? ";" : " ", k->reason[i].text, (number)k->reason[i].count);
    if (k->chosen && k->single_ns && k->split_ns)
        fprintf(f, k->unplanned ? "  " GS_S_EXPECTED_AT_LEAST : "  " GS_S_EXPECTED, ms(k->single_ns), ms(k->split_ns));
    if (k->verified)
        fprintf(f, "  verified %llu, wrong %llu", (number)k->verified, (number)k->wrong);
    fputc('\n', f);
}

static void print_pool(FILE *f, const struct gs_report *r)
{
    const unsigned n = count_held(r);
    if (r->moves[GS_POOL_REFUSED])
        fprintf(f, "gpusparc: pooled memory: %llu images of kinds that it doesn't have were refused\n",
                (number)r->moves[GS_POOL_REFUSED]);
    if (!n)
        return;
    fprintf(f, "gpusparc: %smemory, MiB at most of room:", gs_settings()->pooled ? "pooled " : "");
    for (unsigned d = 0; d < n; d++)
        fprintf(f, "%s %.1f of %.1f", d ? "," : "", mib(r->most_held[d]), mib(r->space[d]));
    if (gs_settings()->pooled)
        fprintf(f, "; evicted: %llu windows, %.1f MiB to the host; brought to devices: %.1f MiB",
                (number)r->moves[GS_POOL_EVICTED], mib(r->moved[GS_POOL_EVICTED]), mib(r->moved[GS_POOL_BROUGHT]));
    fputc('\n', f);
}

void gs_report_print(FILE *f, const struct gs_report *r)
{
    locale_t point = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), own = uselocale(point);
    uint64_t all_ns = 0, left_for_now = 0;
    int width = LEAST;
    for (const struct gs_kernel_stats *k = r->kernels; k; k = k->next) {
        const size_t n = strlen(k->name);
        width = n >= MOST ? MOST : (int)n > width ? (int)n : width;
        all_ns += gs_report_kernel_ns(k);
        left_for_now += k->left_for_now;
    }
    fprintf(f, "gpusparc: %-*s %8s %8s %6s %10s %5s %9s %9s  %s\n", width, "kernel", "launches", "split", "parts",
            "device ms", "%", "min ms", "max ms", "why not split");
    for (const struct gs_kernel_stats *k = r->kernels; k; k = k->next)
        print_kernel(f, k, width, all_ns);
    fprintf(f, "gpusparc: %-28s %12s %9s %12s\n", "path", "bytes", "transfers", "ms");
    for (int p = 0; p < GS_PATHS; p++)
        if (r->moves[p])
            fprintf(f, "gpusparc: %-28s %12llu %9llu %12.3f\n", path_names[p], (number)r->moved[p], (number)r->moves[p],
                    ms(gs_busy_ns(&r->busy[p])));
    fprintf(f, "gpusparc: in all, ms:");
    for (int p = 0; p < GS_PHASES; p++)
        fprintf(f, " %s %.3f", phase_names[p], ms(gs_busy_ns(&r->phases[p])));
    fputc('\n', f);
    print_pool(f, r);
    if (r->moves[GS_LATER_WISHED])
        fprintf(f, "gpusparc: " GS_S_COMPILED_LATER "\n", (number)r->moves[GS_LATER_WISHED]);
    if (r->moves[GS_LATER_FOUND])
        fprintf(f, "gpusparc: " GS_S_COMPILED_BEFORE "\n", (number)r->moves[GS_LATER_FOUND]);
    if (left_for_now) /* how that can change */
        fprintf(f, "gpusparc: " GS_S_LATER "\n", (number)left_for_now);
    uselocale(own);
    if (point)
        freelocale(point);
}

/* ---- JSON ---- */

static void write_kernel(FILE *f, const struct gs_kernel_stats *k)
{
    fputs("    {\"name\": ", f);
    gs_json_string(f, k->name);
    fprintf(f, ", \"launches\": %llu, \"split\": %llu, \"parts\": %u, \"dim\": %u, \"verified\": %llu, \"wrong\": %llu",
            (number)k->launches, (number)k->split, k->most_parts, k->last_dim, (number)k->verified, (number)k->wrong);
    if (k->left_for_now)
        fprintf(f, ", \"later\": %llu", (number)k->left_for_now);
    fputs(", \"device_ns\": [", f);
    for (unsigned d = 0; d < gs_group()->n; d++)
        fprintf(f, "%s%llu", d ? ", " : "", (number)k->busy_ns[d]);
    fprintf(f, "], \"min_ns\": %llu, \"max_ns\": %llu", (number)k->shortest_ns, (number)k->longest_ns);
    if (k->chosen)
        fprintf(f, ", \"choice\": {\"single_ns\": %llu, \"split_ns\": %llu, \"planned\": %s}", (number)k->single_ns,
                (number)k->split_ns, k->unplanned ? "false" : "true");
    fputs(", \"ways\": {", f);
    for (unsigned i = 0; i < GS_REPORT_COUNTS && k->way[i].count; i++)
        fprintf(f, "%s\"%s\": %llu", i ? ", " : "", k->way[i].text, (number)k->way[i].count);
    fputs("}, \"reasons\": [", f);
    for (unsigned i = 0; i < GS_REPORT_COUNTS && k->reason[i].count; i++) {
        fprintf(f, "%s{\"reason\": ", i ? ", " : "");
        gs_json_string(f, k->reason[i].text);
        fprintf(f, ", \"count\": %llu}", (number)k->reason[i].count);
    }
    fputs(k->next ? "]},\n" : "]}\n", f);
}

static void write_pool(FILE *f, const struct gs_report *r)
{
    const unsigned n = count_held(r);
    if (!n && !r->moves[GS_POOL_REFUSED])
        return;
    fputs("  \"memory\": {\"peak\": [", f);
    for (unsigned d = 0; d < n; d++)
        fprintf(f, "%s%llu", d ? ", " : "", (number)r->most_held[d]);
    fputs("], \"room\": [", f);
    for (unsigned d = 0; d < n; d++)
        fprintf(f, "%s%llu", d ? ", " : "", (number)r->space[d]);
    fprintf(f, "], \"evictions\": %llu, \"evicted\": %llu, \"brought\": %llu, \"images_refused\": %llu},\n",
            (number)r->moves[GS_POOL_EVICTED], (number)r->moved[GS_POOL_EVICTED], (number)r->moved[GS_POOL_BROUGHT],
            (number)r->moves[GS_POOL_REFUSED]);
}

void gs_report_print_json(FILE *f, const struct gs_report *r)
{
    fprintf(f, "{\n  \"process\": {\"pid\": %d, \"name\": ", (int)getpid());
    gs_json_string(f, program_invocation_short_name);
    fprintf(f, "},\n  \"devices\": %u,\n", gs_group()->n);
    write_pool(f, r);
    if (r->moves[GS_LATER_WISHED] || r->moves[GS_LATER_FOUND])
        fprintf(f, "  \"programs\": {\"compiled_later\": %llu, \"compiled_before\": %llu},\n",
                (number)r->moves[GS_LATER_WISHED], (number)r->moves[GS_LATER_FOUND]);
    for (int p = 0; p < GS_PHASES; p++)
        fprintf(f, "  \"%s_ns\": %llu,\n", phase_names[p], (number)gs_busy_ns(&r->phases[p]));
    fputs("  \"kernels\": [\n", f);
    for (const struct gs_kernel_stats *k = r->kernels; k; k = k->next)
        write_kernel(f, k);
    for (int p = 0; p < GS_PATHS; p++)
        fprintf(f, "%s\"%s\": {\"bytes\": %llu, \"transfers\": %llu, \"ns\": %llu}", p ? ", " : "  ],\n  \"bytes\": {",
                path_names[p], (number)r->moved[p], (number)r->moves[p], (number)gs_busy_ns(&r->busy[p]));
    fputs("}\n}\n", f);
}
