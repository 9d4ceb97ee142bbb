/* SPDX-License-Identifier: MIT */
#include "shim/report/report_page.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/page.h"
#include "shim/report/calls.h"
#include "shim/report/report_table.h"

static void write_reasons(FILE *f, const struct gs_kernel_stats *k)
{
    char text[GS_REPORT_REASONS * (GS_REPORT_REASON_BYTES + 32)] = "";
    size_t n = 0;
    for (unsigned i = 0; i < k->n_reasons; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s (%llu)", i ? "; " : "", k->reason[i].text,
                              (unsigned long long)k->reason[i].count);
    gs_page_cell(f, "%s", text);
}

static void write_count(FILE *f, uint64_t n)
{
    gs_page_number(f, (double)n, "%llu", (unsigned long long)n);
}

static void write_ms(FILE *f, uint64_t ns)
{
    gs_page_number(f, (double)ns, "%.3f", (double)ns / 1e6);
}

static void write_expected(FILE *f, uint64_t ns)
{
    if (ns)
        write_ms(f, ns);
    else
        gs_page_cell(f, "%s", "");
}

static uint64_t time_of(const struct gs_kernel_stats *k)
{
    uint64_t sum = 0;
    for (unsigned d = 0; d < GS_MAX_DEVICES; d++)
        sum += k->busy_ns[d];
    return sum;
}

static void write_kernels(FILE *f, const struct gs_kernel_stats *kernels, unsigned devices)
{
    char heads[128 + GS_MAX_DEVICES * 24] = "kernel|#launches|#split|#parts|#min, ms|#max, ms",
                                      names[GS_MAX_DEVICES][24];
    const char *name[GS_MAX_DEVICES];
    double ms[GS_MAX_DEVICES];
    uint64_t most = 0;
    size_t n = strlen(heads);
    for (unsigned d = 0; d < devices; d++) {
        snprintf(names[d], sizeof names[d], "device %u, ms", d);
        name[d] = names[d];
        n += (size_t)snprintf(heads + n, sizeof heads - n, "|#%s", names[d]);
    }
    snprintf(heads + n, sizeof heads - n, "|time on all devices");
    for (const struct gs_kernel_stats *k = kernels; k; k = k->next)
        most = time_of(k) > most ? time_of(k) : most;
    gs_page_heading(f, "Kernels");
    gs_page_colours(f, name, devices);
    gs_page_table(f, heads);
    for (const struct gs_kernel_stats *k = kernels; k; k = k->next) {
        gs_page_row(f);
        gs_page_cell(f, "%s", k->name);
        write_count(f, k->launches);
        write_count(f, k->split - k->repeated);
        write_count(f, k->most_parts);
        write_ms(f, k->shortest_ns);
        write_ms(f, k->longest_ns);
        for (unsigned d = 0; d < devices; d++)
            write_ms(f, k->busy_ns[d]);
        for (unsigned d = 0; d < devices; d++)
            ms[d] = (double)k->busy_ns[d] / 1e6;
        gs_page_bar(f, ms, name, devices, (double)most / 1e6);
    }
    gs_page_table_end(f);
    gs_page_heading(f, "Why launches were not split, what auto mode expected, and what --verify found");
    gs_page_table(f, "kernel|#one device, ms|#split, ms|#verified|#wrong|not split because");
    for (const struct gs_kernel_stats *k = kernels; k; k = k->next) {
        gs_page_row(f);
        gs_page_cell(f, "%s", k->name);
        write_expected(f, k->chosen ? k->single_ns : 0);
        write_expected(f, k->chosen ? k->split_ns : 0);
        write_count(f, k->verified);
        write_count(f, k->wrong);
        write_reasons(f, k);
    }
    gs_page_table_end(f);
}

static void write_lines(FILE *f, const struct gs_report_line *lines, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (!lines[i].moves)
            continue;
        gs_page_row(f);
        gs_page_cell(f, "%s", lines[i].name);
        write_count(f, lines[i].bytes);
        write_count(f, lines[i].moves);
        write_ms(f, lines[i].ns);
        gs_page_number(f, lines[i].ns ? (double)lines[i].bytes / (double)lines[i].ns : 0, "%.2f",
                       lines[i].ns ? (double)lines[i].bytes / (double)lines[i].ns : 0);
    }
}

/* How much was split, and where the time went; of the kernel that took most why it wasn't all split. */
static void write_conclusion(FILE *f, const struct gs_kernel_stats *kernels, unsigned devices)
{
    unsigned long long launches = 0, split = 0;
    double all_ns = 0;
    for (const struct gs_kernel_stats *k = kernels; k; k = k->next) {
        launches += k->launches;
        split += k->split - k->repeated;
        all_ns += (double)gs_report_busiest_ns(k);
    }
    if (!kernels || !launches) {
        gs_page_conclusion(f, "No kernel was launched.");
        return;
    }
    const bool why = kernels->split - kernels->repeated < kernels->launches && kernels->n_reasons;
    gs_page_conclusion(
        f, "%llu of %llu launches ran in parts, on up to %u devices. %s took %.0f %% of the kernels' time%s%s.", split,
        launches, devices, kernels->name, all_ns > 0 ? 100 * (double)gs_report_busiest_ns(kernels) / all_ns : 0,
        why ? "; what of it wasn't split: " : "", why ? kernels->reason[0].text : "");
}

static void write_calls(FILE *f)
{
    struct gs_call_times call[GS_CALLS_MOST];
    const unsigned n = gs_calls_list(call);
    gs_page_heading(f, "Host time by call of the application");
    gs_page_table(f, "call|#calls|#ms|#min, ms|#max, ms");
    for (unsigned i = 0; i < n; i++) {
        gs_page_row(f);
        gs_page_cell(f, "%s", call[i].name);
        write_count(f, call[i].calls);
        write_ms(f, call[i].ns);
        write_ms(f, call[i].shortest_ns);
        write_ms(f, call[i].longest_ns);
    }
    gs_page_table_end(f);
}

void gs_report_write_page(FILE *f, const struct gs_kernel_stats *kernels, unsigned devices,
                          const struct gs_report_lines *paths, const struct gs_report_lines *phases)
{
    char title[256];
    snprintf(title, sizeof title, "gpusparc run: %s, process %d, %u devices", program_invocation_short_name,
             (int)getpid(), devices);
    gs_page_begin(f, title);
    write_conclusion(f, kernels, devices);
    write_kernels(f, kernels, devices);
    write_calls(f);
    gs_page_heading(f, "Bytes by the path they took");
    gs_page_table(f, "path|#bytes|#transfers|#ms|#GB/s");
    write_lines(f, paths->v, paths->n);
    gs_page_table_end(f);
    gs_page_heading(f, "Between the application and the devices, and on these");
    gs_page_table(f, "phase|#ms");
    for (unsigned i = 0; i < phases->n; i++) {
        gs_page_row(f);
        gs_page_cell(f, "%s", phases->v[i].name);
        write_ms(f, phases->v[i].ns);
    }
    gs_page_table_end(f);
    gs_page_end(f);
}
