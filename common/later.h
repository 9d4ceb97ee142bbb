/* SPDX-License-Identifier: MIT */
/* Programs that are compiled for later processes (docs/choice.md): a job for each in the cache, which the process that
 * wants it writes and gpusparc-compile does, and a mark of what came of it. `id`: of the program and its devices, a
 * hash in hexadecimal. */
#ifndef GS_COMMON_LATER_H
#define GS_COMMON_LATER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/hash.h"

enum { GS_LATER_TRIES = 3, GS_LATER_JOBS = 32, GS_LATER_BYTES = 4 << 20 };

/* What clCreateContext, clCreateProgramWithSource and clBuildProgram were given. */
struct gs_later_job {
    const char *platform, *folder, *options, *source; /* folder: the working folder, which options may go by */
    uint64_t type;                                    /* cl_device_type */
    char *text;                                       /* that these point into; owned, once it has been taken */
};

/* What came of it: how long translating and compiling took when the driver had it from the first time, 0 where it
 * hasn't come so far, and how often that was tried: GS_LATER_TRIES times at most in a week. */
struct gs_later_mark {
    unsigned tries;
    uint64_t took_ns;
};

/* In the place of the oldest where there are GS_LATER_JOBS. False: it isn't kept, as it is too large or the cache can't
 * be written. */
bool gs_later_put(const char *id, const struct gs_later_job *job);

/* The id of the oldest job; false: there is none. */
bool gs_later_find(char id[GS_HASH_HEX_BYTES]);

/* False: it is gone, or damaged. */
bool gs_later_get(const char *id, struct gs_later_job *job);

/* Nobody needs it any more. False: it can't be removed. */
bool gs_later_drop(const char *id);

/* All zeros: there is none, or it is old. */
struct gs_later_mark gs_later_read(const char *id);
/* Where there is the job that it is of. */
void gs_later_mark(const char *id, struct gs_later_mark mark);

#endif
