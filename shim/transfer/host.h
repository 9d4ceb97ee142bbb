/* SPDX-License-Identifier: MIT */
/* Reads a buffer's bytes into the host's memory from wherever they are valid. With the context's lock held; nothing
 * blocks. */
#ifndef GS_SHIM_TRANSFER_HOST_H
#define GS_SHIM_TRANSFER_HOST_H

#include "shim/command.h"
#include "shim/transfer/staging.h"

/* ptr[0 …] = the bytes r of the root. Each read waits for cmd->before; its event goes to `done`, its place to device[].
 */
cl_int gs_host_read(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, void *ptr, struct gs_events *done,
                    unsigned device[], unsigned most);

/* The same of an image that owns its texels: the box within the bands r, laid out by pitches. */
struct gs_image_read {
    const size_t *origin, *region;
    size_t row_pitch, slice_pitch; /* as clEnqueueReadImage is given them */
    size_t band_pitch;             /* from one band to the next in the host's memory */
    void *ptr;
};
cl_int gs_host_read_image(struct gs_command *cmd, struct gs_mem *root, struct gs_range r,
                          const struct gs_image_read *to, struct gs_events *done, unsigned device[], unsigned most);

/* The bytes r of a root, of which t is all if they were at home, by the places that hold them: v[] and *n. `ready`
 * gains what they must come after. CL_OUT_OF_RESOURCES: they would be more than GS_HOST_PLACES. */
enum { GS_HOST_PLACES = 64 };
cl_int gs_host_places(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, const struct gs_staged *t,
                      struct gs_staged v[GS_HOST_PLACES], unsigned *n, struct gs_events *ready);

#endif
