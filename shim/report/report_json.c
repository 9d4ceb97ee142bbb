/* SPDX-License-Identifier: MIT */
#include "shim/report/report_json.h"

#include "common/utf8.h"

void gs_report_write_string(FILE *f, const char *s)
{
    char c[GS_JSON_CHARACTER_BYTES];
    fputc('"', f);
    while (*s) {
        s += gs_json_character(s, c);
        fputs(c, f);
    }
    fputc('"', f);
}

void gs_report_write_kernel_json(FILE *f, const struct gs_kernel_stats *k, unsigned devices)
{
    fputs("    {\"name\": ", f);
    gs_report_write_string(f, k->name);
    fprintf(f, ", \"launches\": %llu, \"split\": %llu, \"parts\": %u, \"dim\": %u, \"verified\": %llu, \"wrong\": %llu",
            (unsigned long long)k->launches, (unsigned long long)k->split, k->most_parts, k->last_dim,
            (unsigned long long)k->verified, (unsigned long long)k->wrong);
    if (k->later)
        fprintf(f, ", \"later\": %llu", (unsigned long long)k->later);
    fputs(", \"device_ns\": [", f);
    for (unsigned d = 0; d < devices; d++)
        fprintf(f, "%s%llu", d ? ", " : "", (unsigned long long)k->busy_ns[d]);
    fprintf(f, "], \"min_ns\": %llu, \"max_ns\": %llu", (unsigned long long)k->shortest_ns,
            (unsigned long long)k->longest_ns);
    if (k->chosen)
        fprintf(f, ", \"choice\": {\"single_ns\": %llu, \"split_ns\": %llu, \"planned\": %s}",
                (unsigned long long)k->single_ns, (unsigned long long)k->split_ns, k->unplanned ? "false" : "true");
    fputs(", \"reasons\": [", f);
    for (unsigned i = 0; i < k->n_reasons; i++) {
        fprintf(f, "%s{\"reason\": ", i ? ", " : "");
        gs_report_write_string(f, k->reason[i].text);
        fprintf(f, ", \"count\": %llu}", (unsigned long long)k->reason[i].count);
    }
    fputs("]}", f);
}
