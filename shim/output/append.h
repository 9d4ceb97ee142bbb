/* SPDX-License-Identifier: MIT */
/* Lists to which all parts of a launch append (struct gs_append, GS_APPENDED). The first part works on the list at
 * home; each other appends to one of its own, from 0 on, and counts in a copy of the counter, which is a sum like
 * others (shim/output/reduce.h): to the list's replica on its place, unless that holds bytes that somebody wanted
 * there. Once the parts have run, what each has stored is put behind what those before it have, at home and on the
 * places that hold such bytes. What that is the counters say, and nothing else of the lists has changed. With the
 * context's lock held; nothing blocks. docs/coherence.md, rule 13. */
#ifndef GS_SHIM_OUTPUT_APPEND_H
#define GS_SHIM_OUTPUT_APPEND_H

#include "shim/subkernel/launching.h"
#include "shim/output/reduce.h"

struct gs_list;

/* Those of a launch, by the kernel's lists. All zeros at first. */
struct gs_lists {
    struct gs_list *v; /* owned */
    uint32_t n;
};

/* Gives part p, on place p, lists of its own as its kernel's arguments; the first works on the list itself. All other
 * arguments have been set. */
cl_int gs_append_begin(struct gs_launching *l, struct gs_lists *lists, unsigned p, cl_kernel kernel);

/* Where the parts have the counters that lie beside lists of a root. */
void gs_append_copies(const struct gs_launching *l, const struct gs_lists *lists, const struct gs_mem *root,
                      struct gs_copies *copies);

/* What else the parts wait for, once what they need is on its way: ready[p], by part. Sees to the memory that is needed
 * afterwards as well. */
cl_int gs_append_ready(struct gs_launching *l, struct gs_lists *lists, unsigned n_parts, struct gs_events *ready);

/* Once the parts are enqueued (part p ends at ran[p]). Adds to `done` when the lists are as they should be; *counted:
 * when home's counters may become the sums. The caller releases it. */
cl_int gs_append_join(struct gs_launching *l, struct gs_lists *lists, unsigned n_parts, const cl_event *ran,
                      struct gs_events *done, cl_event *counted);

/* What is valid where after that. -ENOMEM. */
int gs_append_record(const struct gs_launching *l, const struct gs_lists *lists, unsigned n_parts);

void gs_lists_free(struct gs_lists *lists);

#endif
