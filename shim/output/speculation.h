/* SPDX-License-Identifier: MIT */
/* A launch that is split on trial: its work-groups may see each other's atomics, but on separate memories the parts do
 * not. Each part works on a copy of the bytes by which they could (GS_CONTESTED), from one state. If no more than one
 * part has changed any of them, what the parts have done together is what one device could have done: first the parts
 * that changed nothing, then the one that did. Else what was changed at home is put back, and one device does it all
 * (docs/coherence.md, rule 12). A thread of ours decides, once the parts have ended; the application's calls wait for
 * nothing. */
#ifndef GS_SHIM_OUTPUT_SPECULATION_H
#define GS_SHIM_OUTPUT_SPECULATION_H

#include "shim/subkernel/launching.h"

struct gs_speculation;

/* Why a launch of the kernel isn't to be tried, or NULL. After each trial in vain more launches aren't, whatever their
 * sizes; and no more trials are begun whose end isn't known than have ended well. This counts a launch. */
const char *gs_speculation_refuses(struct gs_kernel *k);

/* Before the parts run, where all places hold the same contested bytes: keeps copies of them, and of all else that one
 * device would need back. ready[p] is what that must wait for on place p, and gains it. Null with an error in *err:
 * nothing has been changed. */
struct gs_speculation *gs_speculation_begin(struct gs_launching *l, const struct gs_plan *plan, struct gs_events *ready,
                                            cl_int *err);

/* Once the parts are enqueued (part p ends at ran[p]), and all that follows them (`ended`): has the contested bytes
 * compared, and what follows from that done. `ended` gains the end. Takes the trial over. */
cl_int gs_speculation_end(struct gs_speculation *c, struct gs_command *cmd, const cl_event *ran,
                          struct gs_events *ended);

/* One that was begun, but whose parts won't run to their end. Null is allowed. */
void gs_speculation_drop(struct gs_speculation *c);

#endif
