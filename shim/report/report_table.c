/* SPDX-License-Identifier: MIT */
#include "shim/report/report_table.h"

#include <string.h>

#include "common/utf8.h"
#include "common/reasons.h"
#include "shim/report/calls.h"

enum { LEAST = 28, MOST = 48 }; /* characters of a name */

/* A name as a column has it: what it begins and ends with, where it is long. */
struct shown {
    char text[4 * MOST + 8];
    int characters;
};

static size_t bytes_of(const char *s)
{
    const size_t n = gs_utf8_bytes(s);
    return n ? n : 1;
}

static void show_name(struct shown *to, const char *name)
{
    enum { TAIL = 16 };
    int all = 0, i = 0;
    size_t n = 0;
    for (const char *s = name; *s; s += bytes_of(s))
        all++;
    to->characters = all < MOST ? all : MOST;
    for (const char *s = name; *s; s += bytes_of(s), i++) {
        const size_t bytes = bytes_of(s);
        const bool plain = (unsigned char)*s > ' ' && *s != 0x7f && gs_utf8_bytes(s);
        if (all > MOST && i >= MOST - TAIL - 2 && i < all - TAIL) {
            if (i < MOST - TAIL)
                to->text[n++] = '.';
            continue;
        }
        memcpy(to->text + n, plain ? s : "_", plain ? bytes : 1);
        n += plain ? bytes : 1;
    }
    to->text[n] = '\0';
}

static void print_name(FILE *f, const struct shown *name, int width)
{
    fprintf(f, "gpusparc: %s%*s", name->text, width - name->characters, "");
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
    struct shown name;
    uint64_t all_ns = 0;
    int width = LEAST;
    for (const struct gs_kernel_stats *k = kernels; k; k = k->next) {
        show_name(&name, k->name);
        width = name.characters > width ? name.characters : width;
        all_ns += gs_report_kernel_ns(k);
    }
    fprintf(f, "gpusparc: %-*s %8s %8s %6s %10s %5s %9s %9s  %s\n", width, "kernel", "launches", "split", "parts",
            "device ms", "%", "min ms", "max ms", "why not split");
    for (const struct gs_kernel_stats *k = kernels; k; k = k->next) {
        const uint64_t ns = gs_report_kernel_ns(k);
        show_name(&name, k->name);
        print_name(f, &name, width);
        fprintf(f, " %8llu %8llu %6u %10.3f %5.1f %9.3f %9.3f", (unsigned long long)k->launches,
                (unsigned long long)k->split, k->most_parts, (double)ns / 1e6,
                all_ns ? 100.0 * (double)ns / (double)all_ns : 0, (double)k->shortest_ns / 1e6,
                (double)k->longest_ns / 1e6);
        print_reasons(f, k);
        fputc('\n', f);
    }
}

void gs_report_write_calls(FILE *f)
{
    struct gs_call_times call[GS_CALLS_MOST];
    const unsigned n = gs_calls_list(call);
    if (n)
        fprintf(f, "gpusparc: %-28s %8s %12s %10s %10s\n", "call", "calls", "host ms", "min ms", "max ms");
    for (unsigned i = 0; i < n; i++)
        fprintf(f, "gpusparc: %-28s %8llu %12.3f %10.3f %10.3f\n", call[i].name, (unsigned long long)call[i].calls,
                (double)call[i].ns / 1e6, (double)call[i].shortest_ns / 1e6, (double)call[i].longest_ns / 1e6);
}
