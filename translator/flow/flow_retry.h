/* SPDX-License-Identifier: MIT */
/* Loops of compare-and-swap that amount to one atomic operation: how OpenCL programs add floating-point numbers in
 * global memory. Such a loop puts op(e, v) where e was and tries again until it succeeds, so each run of it changes its
 * place exactly once, whatever it read before:
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

/* Is the statement such a loop? It changes nothing but private variables and the place of its compare-and-swap; what
 * becomes of those variables behind it is the caller's to see. */
bool gs_retry_find(const struct gs_program *p, uint32_t unit, CXCursor loop, struct gs_retry *out);

/* Is the call of an atomic only a way to read? atomic_add(p, 0), atomic_or(p, 0), atomic_cmpxchg(p, 0, 0),
 * atomic_load(p). */
bool gs_atomic_only_reads(const char *name, CXCursor call);

#endif
