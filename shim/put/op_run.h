/* SPDX-License-Identifier: MIT */
/* A transfer of a scheduled application, whose units are pieces of it (see dispatch.h). With the context's lock held;
 * nothing blocks. */
#ifndef GS_SHIM_PUT_OP_RUN_H
#define GS_SHIM_PUT_OP_RUN_H

#include "shim/client/client.h"
#include "shim/order/command.h"
#include "shim/put/cut.h"
#include "shim/put/op.h"

/* A command that moves bytes or texels, cut into pieces: each a unit of `resource`; the first in `queue` after the wait
 * list. *end is the caller's. */
struct gs_op_run {
    struct gs_op op;
    unsigned char pattern[GS_OP_PATTERN_BYTES]; /* of a fill in several pieces, whose caller has gone on */
    struct gs_cut cut;
    unsigned place, resource;
};
cl_int gs_run_op(struct gs_queue *q, const struct gs_op_run *run, cl_command_queue queue, cl_uint n_wait,
                 const cl_event *wait, cl_event *end);

#endif
