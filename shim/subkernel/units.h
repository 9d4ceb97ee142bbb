/* SPDX-License-Identifier: MIT */
/* A sub-kernel: a box of a launch on one place; of a scheduled application cut into chunks, each a unit (see
 * dispatch.h). With the context's lock held; nothing blocks. */
#ifndef GS_SHIM_SUBKERNEL_UNITS_H
#define GS_SHIM_SUBKERNEL_UNITS_H

#include "shim/client/client.h"
#include "shim/put/cut.h"
#include "shim/schedule/dispatch.h"
#include "shim/client/job.h"

/* A box of a launch on one place. */
struct gs_kernel_run {
    struct gs_kernel *k;
    cl_kernel kernel; /* with its arguments, but for the hidden one */
    unsigned place;
    struct gs_geometry geometry;
    bool null_local;
    const struct gs_kernel_summary *summary; /* with `hidden` the box's begin is the base */
    struct gs_cut cut;
    struct gs_size *size; /* of the launch */
    unsigned factor;      /* by which its chunks are larger than the configured ones */
    bool odd; /* its sizes are no multiples: the last chunk goes first, so that the driver sees it at once */
};

/* Of a launch without a local size, so many work-items count as a work-group. */
enum { GS_ITEMS_OF_GROUP = 64 };

/* Enqueues one chunk, and sets the hidden argument for it. */
cl_int gs_enqueue_chunk(const struct gs_kernel_run *run, unsigned chunk, cl_command_queue queue, cl_uint n_wait,
                        const cl_event *wait, cl_event *event);

/* Cuts the box by the job's kernel_chunk, or larger where such chunks are short. What is short as a whole isn't cut
 * where nobody else wants the device. */
void gs_kernel_cut(struct gs_kernel_run *run, const struct gs_job *job, const struct gs_box *box);

/* Runs it. With more than one chunk its kernel is a spare one, which is taken over whatever comes of it. *end is the
 * caller's. */
cl_int gs_run_kernel(const struct gs_destination *to, const struct gs_kernel_run *run, cl_event *end);

#endif
