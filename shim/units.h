/* SPDX-License-Identifier: MIT */
/* What the units of scheduled commands are: chunks of a kernel, pieces of a transfer (see dispatch.h). With the
 * context's lock held; nothing blocks. */
#ifndef GS_SHIM_UNITS_H
#define GS_SHIM_UNITS_H

#include "shim/client.h"
#include "shim/command.h"
#include "shim/cut.h"
#include "shim/op.h"

/* A box of a launch on one place. */
struct gs_kernel_run {
    struct gs_kernel *k;
    unsigned place;
    struct gs_geometry geometry;
    bool null_local;
    bool hidden; /* the kernel takes the hidden argument, for which the box's begin is the base */
    struct gs_cut cut;
    uint64_t kind;                /* see batch.h */
    unsigned factor;              /* by which its chunks are larger than the configured ones */
    bool untied;                  /* see dispatch.h */
    struct gs_siblings *siblings; /* see dispatch.h; or null */
    bool odd; /* its sizes are no multiples: the last chunk goes first, so that the driver sees it at once */
};

/* Of a launch without a local size, so many work-items count as a work-group. */
enum { GS_ITEMS_OF_GROUP = 64 };

/* Enqueues one chunk, and sets the hidden argument for it. */
cl_int gs_enqueue_chunk(const struct gs_kernel_run *run, cl_kernel kernel, unsigned chunk, cl_command_queue queue,
                        cl_uint n_wait, const cl_event *wait, cl_event *event);

/* What a launch of that kernel over so many work-items (three numbers) is, for what is expected of its time. */
uint64_t gs_kind_of(const struct gs_kernel *k, const uint64_t global[3]);

/* Cuts the box by the job's kernel_chunk, or larger where such chunks are short. What is short as a whole isn't cut
 * where nobody else wants the device. */
void gs_kernel_cut(struct gs_kernel_run *run, const struct gs_job *job, const struct gs_box *box);

/* Runs it, its first chunk in `queue` after the wait list. `kernel` has its arguments, but for the hidden one; with
 * more than one chunk it is a spare kernel, which is taken over whatever comes of it. *end is the caller's; it may be
 * null. */
cl_int gs_run_kernel(struct gs_queue *q, const struct gs_kernel_run *run, cl_kernel kernel, cl_command_queue queue,
                     cl_uint n_wait, const cl_event *wait, cl_event *end);

/* A command that moves bytes or texels, cut into pieces: each a unit of `resource`; the first in `queue` after the wait
 * list. *end is the caller's. */
struct gs_op_run {
    struct gs_op op;
    struct gs_cut cut;
    unsigned place, resource;
};
cl_int gs_run_op(struct gs_queue *q, const struct gs_op_run *run, cl_command_queue queue, cl_uint n_wait,
                 const cl_event *wait, cl_event *end);

#endif
