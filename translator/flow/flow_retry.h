/* SPDX-License-Identifier: MIT */
/* Compare-and-swap loops that amount to one atomic operation, as OpenCL programs add floating-point numbers in global
 * memory. Such a loop tries to replace a value e by op(e, v) until it succeeds, so each run changes the place exactly
 * once, whatever was read before:
 *
 *   do { old.f = *p; new.f = old.f + v; } while (atomic_cmpxchg((volatile __global uint *)p, old.u, new.u) != old.u);
 *
 * Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_FLOW_FLOW_RETRY_H
#define GS_TRANSLATOR_FLOW_FLOW_RETRY_H

#include "translator/parsing/program.h"

struct gs_retry {
    CXCursor loop;
    CXCursor swap; /* the call of the compare-and-swap */
    CXCursor exit; /* the `if` whose condition ends the loop; null where the loop's own condition does */
    CXCursor by;   /* v */
    enum gs_atomic_op op;
    enum gs_atomic_type type;
};

/* Is the statement such a loop? It then changes only private variables and the place of the compare-and-swap. The
 * caller must look at uses of these variables after the loop. */
bool gs_retry_find(const struct gs_program *p, uint32_t unit, CXCursor loop, struct gs_retry *out);

/* Is the call of an atomic only a way to read? atomic_add(p, 0), atomic_or(p, 0), atomic_cmpxchg(p, 0, 0),
 * atomic_load(p). */
bool gs_atomic_only_reads(const char *name, CXCursor call);

#endif
