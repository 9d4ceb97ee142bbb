/* SPDX-License-Identifier: MIT */
/* Pieces of --stats=FILE.json. */
#ifndef GS_SHIM_REPORT_REPORT_JSON_H
#define GS_SHIM_REPORT_REPORT_JSON_H

#include <stdio.h>

#include "shim/report/report.h"

/* With its quotes. */
void gs_report_write_string(FILE *f, const char *s);

/* An object; `devices` of them have times. */
void gs_report_write_kernel_json(FILE *f, const struct gs_kernel_stats *k, unsigned devices);

#endif
