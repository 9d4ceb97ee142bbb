/* SPDX-License-Identifier: MIT */
/* What --stats tells of pooled memory (docs/memory.md). From any thread. */
#ifndef GS_SHIM_REPORT_POOL_H
#define GS_SHIM_REPORT_POOL_H

#include <stdint.h>
#include <stdio.h>

/* A device's windows have so many bytes now, of the `room` for them. */
void gs_report_pool_holds(unsigned device, uint64_t bytes, uint64_t room);

/* A window was given up, for which so many bytes went to the host; so many were brought to a device. */
void gs_report_pool_evicted(uint64_t bytes);
void gs_report_pool_moved(uint64_t bytes);

/* An image of a buffer or an image, of memory of the application's with gaps between its rows, or with mip levels or
 * samples was asked for, and refused. */
void gs_report_pool_no_image(void);

/* A line of the table; a member of the JSON's object, with a comma and a newline behind it. Nothing where there were no
 * windows, nor images asked for. */
void gs_report_pool_print(FILE *f);
void gs_report_pool_json(FILE *f);

#endif
