/* SPDX-License-Identifier: MIT */
/* The order in which the driver's sub-buffers of one object are let go. NVIDIA's driver (580.159.04) crashes if two of
 * them overlap, both were used, and the older one is let go first. On the other places ours are made in the order of
 * their first use, not in the application's. At home units that wait may need the application's sub-buffers after
 * their release, when newer ones overlap them. So a sub-buffer that nobody needs waits for the newer ones over its
 * range, and serves again if the same form is asked for.
 *
 *
 * If the application itself lets the older one go first, that order stays: another driver takes it. A sub-buffer with
 * a destructor callback waits for commands that need it, but for no newer sub-buffer. */
#ifndef GS_SHIM_MEMORY_SUB_BUFFERS_H
#define GS_SHIM_MEMORY_SUB_BUFFERS_H

#include "shim/record/objects.h"

/* A window of an object `of` of the driver's: a sub-buffer, or an image of its bytes. */
struct gs_window_form {
    cl_mem of;
    cl_mem_flags flags;
    struct gs_range range;
    const cl_image_format *format; /* null: a sub-buffer */
    const cl_image_desc *desc;
};

/* One at a place of a root. Null with an error in *err. Its gs_mem's place[].made is to hold it. */
struct gs_place_window *gs_window_make(struct gs_mem *root, unsigned place, const struct gs_window_form *form,
                                       cl_int *err);
cl_mem gs_window_mem(const struct gs_place_window *w);

/* The application has let its sub-buffer go for the last time; units may still need it. False: it had released this one
 * before, and the driver gave the same handle again. */
bool gs_sub_buffer_released(struct gs_mem *m);

/* The application wants to hear of its sub-buffer's end. */
void gs_sub_buffer_callback(struct gs_mem *m);

/* Nobody needs a place's window any more: it is let go, now or after others. Any thread, with or without locks. */
void gs_window_leave(struct gs_mem *root, unsigned place, struct gs_place_window *w);

#endif
