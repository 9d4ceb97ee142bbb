/* SPDX-License-Identifier: MIT */
#include "shim/report/report_table.h"

#include <string.h>

#include "common/reasons.h"

enum { LEAST = 28, MOST = 48, TAIL = 16 }; /* characters of a name */

/* In a column so wide: what a long name begins and ends with. */
static void print_name(FILE *f, const char *name, int width)
{
    const size_t n = strlen(name);
    if (n > MOST)
        fprintf(f, "gpusparc: %.*s..%s", MOST - TAIL - 2, name, name + n - TAIL);
    else
        fprintf(f, "gpusparc: %-*s", width, name);
}

uint64_t gs_report_kernel_ns(const struct gs_kernel_stats *k)
{
    uint64_t longest = 0;
    for (unsigned d = 0; d < GS_MAX_DEVICES; d++)
        longest = k->busy_ns[d] > longest ? k->busy_ns[d] : longest;
    return longest;
}

static void print_reasons(FILE *f, const struct gs_kernel_stats *k)
{
    for (unsigned i = 0; i < k->n_reasons; i++)
        fprintf(f, "%s %s (%llu)", i ? ";" : " ", k->reason[i].text, (unsigned long long)k->reason[i].count);
    if (k->chosen && k->single_ns && k->split_ns)
        fprintf(f, k->unplanned ? "  " GS_S_EXPECTED_AT_LEAST : "  " GS_S_EXPECTED, (double)k->single_ns / 1e6,
                (double)k->split_ns / 1e6);
    if (k->verified)
        fprintf(f, "  verified %llu, wrong %llu", (unsigned long long)k->verified, (unsigned long long)k->wrong);
}

void gs_report_write_kernels(FILE *f, const struct gs_kernel_stats *kernels)
{
    uint64_t all_ns = 0;
    int width = LEAST;
    for (const struct gs_kernel_stats *k = kernels; k; k = k->next) {
        const size_t n = strlen(k->name);
        width = n >= MOST ? MOST : (int)n > width ? (int)n : width;
        all_ns += gs_report_kernel_ns(k);
    }
    fprintf(f, "gpusparc: %-*s %8s %8s %6s %10s %5s %9s %9s  %s\n", width, "kernel", "launches", "split", "parts",
            "device ms", "%", "min ms", "max ms", "why not split");
    for (const struct gs_kernel_stats *k = kernels; k; k = k->next) {
        const uint64_t ns = gs_report_kernel_ns(k);
        print_name(f, k->name, width);
        fprintf(f, " %8llu %8llu %6u %10.3f %5.1f %9.3f %9.3f", (unsigned long long)k->launches,
                (unsigned long long)k->split, k->most_parts, (double)ns / 1e6,
                all_ns ? 100.0 * (double)ns / (double)all_ns : 0, (double)k->shortest_ns / 1e6,
                (double)k->longest_ns / 1e6);
        print_reasons(f, k);
        fputc('\n', f);
    }
}
