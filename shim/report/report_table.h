/* SPDX-License-Identifier: MIT */
/* What --stats shows of kernels, as lines of text. */
#ifndef GS_SHIM_REPORT_REPORT_TABLE_H
#define GS_SHIM_REPORT_REPORT_TABLE_H

#include <stdio.h>

#include "shim/report/report.h"

/* How long the device was busy with the kernel that was so the longest. */
uint64_t gs_report_kernel_ns(const struct gs_kernel_stats *k);

/* Each kernel is one line, with 48 characters of its name at most. */
void gs_report_write_kernels(FILE *f, const struct gs_kernel_stats *kernels);

#endif
