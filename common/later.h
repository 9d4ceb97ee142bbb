/* SPDX-License-Identifier: MIT */
/* Programs that are compiled for later processes (docs/choice.md). The cache has a job for each, written by the process
 * that wishes for it and done by gpusparc-compile, and a mark of the result. `id`: a hash of the program and its
 * devices, in hexadecimal. */
#ifndef GS_COMMON_LATER_H
#define GS_COMMON_LATER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/hash.h"

enum { GS_LATER_TRIES = 3, GS_LATER_JOBS = 32, GS_LATER_BYTES = 4 << 20 };

/* The arguments of clCreateContext, clCreateProgramWithSource and clBuildProgram. */
struct gs_later_job {
    const char *platform, *folder, *options, *source; /* folder: the working folder, which options may go by */
    uint64_t type;                                    /* cl_device_type */
    char *text;                                       /* the memory that these point into, owned; set by gs_later_get */
};

/* A job's result: the time of translating and compiling when the driver had the program from the first time (0: not
 * yet), and the number of tries, GS_LATER_TRIES at most in a week. */
struct gs_later_mark {
    unsigned tries;
    uint64_t took_ns;
};

/* Writes a job, in place of the oldest if there are GS_LATER_JOBS. False: too large, or the cache can't be written. */
bool gs_later_put(const char *id, const struct gs_later_job *job);

/* The id of the oldest job; false: there is none. */
bool gs_later_find(char id[GS_HASH_HEX_BYTES]);

/* Reads a job. False: gone or damaged. */
bool gs_later_get(const char *id, struct gs_later_job *job);

/* Removes a job that nobody needs. False: it can't be removed. */
bool gs_later_drop(const char *id);

/* A job's mark; all zeros: none, or an old one. */
struct gs_later_mark gs_later_read(const char *id);
/* Writes a mark, if its job is there. */
void gs_later_mark(const char *id, struct gs_later_mark mark);

#endif
