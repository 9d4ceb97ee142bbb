/* SPDX-License-Identifier: MIT */
/* Lists to which all parts of a launch append (struct gs_append): each part but the first stores to memory of its own,
 * from 0 on, and counts in a copy of the counter, which is a sum like others (shim/reduce.h). Once the parts have run
 * each device puts what its part has found behind what those before it have, into its replica of the list; from there
 * on these are outputs whose writers could not be told apart (shim/merge.h). With the context's lock held; nothing
 * blocks. docs/coherence.md, rule 20. */
#ifndef GS_SHIM_APPEND_H
#define GS_SHIM_APPEND_H

#include "shim/parts.h"

/* The parts' own memory for each of the kernel's lists: on[p] of part p, scratch of the launch. */
struct gs_lists {
    struct {
        cl_mem on[GS_MAX_DEVICES];
    } * v; /* by list; owned */
};

/* Gives part p, on place p, lists of its own as its kernel's arguments; the first works on the list itself. All other
 * arguments have been set. */
cl_int gs_append_begin(struct gs_launching *l, struct gs_lists *lists, unsigned p, cl_kernel kernel);

/* Once the parts are enqueued (part p ends at ran[p]): when place p has its part of the lists (filled[p]), and when
 * home's counters may become the sums (counted). The caller releases these. */
cl_int gs_append_join(struct gs_launching *l, const struct gs_lists *lists, unsigned n_parts, const cl_event *ran,
                      cl_event *filled, cl_event *counted);

void gs_lists_free(struct gs_lists *lists);

#endif
