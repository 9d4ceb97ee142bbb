/* SPDX-License-Identifier: MIT */
/* Makes the tables of shim/launch/contents.h: by a kernel on the device that holds the words. With the context's lock
 * held. */
#ifndef GS_SHIM_LAUNCH_CONTENTS_KERNEL_H
#define GS_SHIM_LAUNCH_CONTENTS_KERNEL_H

#include "shim/launch/contents.h"

/* A table of the words in m's window that have the type, the step and, but for whole steps, the begin of `words`, as
 * they are once all that has been enqueued so far has ended. The caller's. NULL where that hasn't ended within
 * `patience_ns`, or a device refuses. */
struct gs_table *gs_table_make(struct gs_command *cmd, const struct gs_mem *m, const struct gs_words *words,
                               uint64_t patience_ns);
void gs_table_free(struct gs_table *t);

#endif
