/* SPDX-License-Identifier: MIT */
/* Outputs whose writers could not be told apart (GPU-SPARC, section III-C): the parts start from equal bytes, a copy of
 * which is kept; afterwards every byte that differs from it was written. With the context's lock held; nothing blocks.
 */
#ifndef GS_SHIM_MERGE_H
#define GS_SHIM_MERGE_H

#include "shim/command.h"

/* The merge of one root in one launch. All zeros: none. */
struct gs_merge {
    struct gs_mem *root;
    struct gs_range window; /* of a buffer */
    uint64_t bytes;         /* of the window, or of the image laid out without gaps */
    cl_mem kept;            /* on the first device; owned */
};

/* Keeps a copy of what is at home. `ready` is what the copy must wait for; its own event goes to `done`: no part may
 * write at home before it. */
cl_int gs_merge_keep(struct gs_command *cmd, struct gs_merge *m, struct gs_mem *root, struct gs_range window,
                     const struct gs_events *ready, struct gs_events *done);

/* Once the parts have run (part i on place i, ended at event ran[i]) brings home what they wrote. Adds to `done`. */
cl_int gs_merge_parts(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, const cl_event *ran,
                      struct gs_events *done);
void gs_merge_free(struct gs_merge *m);

#endif
