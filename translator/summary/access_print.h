/* SPDX-License-Identifier: MIT */
/* Access programs as formulas, for a person. */
#ifndef GS_TRANSLATOR_SUMMARY_ACCESS_PRINT_H
#define GS_TRANSLATOR_SUMMARY_ACCESS_PRINT_H

#include "translator/summary/summary.h"

/* One load, store or atomic. The strings are owned: gs_access_line_free. */
struct gs_access_line {
    uint32_t arg, line, bytes; /* line: in the source, 0 if unknown */
    const char *kind;          /* "reads", "writes", "atomic" */
    char *place;               /* as `a[get_global_id(0)]` */
    char *when;                /* its guards, joined by &&; "" where there is none */
    bool maybe;                /* something else may keep it from happening */
};

uint32_t gs_access_lines(const struct gs_kernel_summary *kernel);
/* The i-th one. 0 or -ENOMEM. */
int gs_access_line(const struct gs_kernel_summary *kernel, uint32_t i, struct gs_access_line *out);
void gs_access_line_free(struct gs_access_line *l);

#endif
