/* SPDX-License-Identifier: MIT */
/* --dump DIR: what the application's programs are, and what gpusparc makes of them, as files. NAME is a hash of a
 * program's text and options; of several units that are linked each has its number behind it.
 *
 *   NAME.cl             the source
 *   NAME.translated.cl  its translation, which runs where launches are split
 *   NAME.log            options, the driver's log, and for each kernel whether and why it can be split */
#ifndef GS_SHIM_PLAN_DUMP_H
#define GS_SHIM_PLAN_DUMP_H

#include "shim/record/objects.h"

/* The application has built the program, as `err` says, or has linked it. Nothing happens without --dump. May take
 * long: the program is translated for it. */
void gs_dump_built(struct gs_program *p, cl_int err);

/* The translation didn't compile: the driver's log of that, which goes to the end of NAME.log. With the program's lock.
 */
void gs_dump_refused(struct gs_program *p, const char *driver_log);

/* What the driver says of a program's build for a device, malloc'd; NULL where it says nothing. */
char *gs_build_log(cl_program program, cl_device_id dev);

#endif
