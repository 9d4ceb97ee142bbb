/* SPDX-License-Identifier: MIT */
/* Memory objects from their making to their end: the record of a driver's handle, and where its bytes are valid. Other
 * threads find a record only after gs_mem_publish. NULL: no memory. */
#ifndef GS_SHIM_MEMORY_OBJECT_H
#define GS_SHIM_MEMORY_OBJECT_H

#include "shim/client/client.h"
#include "shim/order/command.h"

/* An object that owns its bytes. kept: flags of the application's that the driver wasn't told. */
struct gs_mem *gs_mem_root(struct gs_context *c, cl_mem handle, uint64_t size, cl_mem_flags flags, cl_mem_flags kept);

/* A window of an object of ours. The window keeps its root. */
struct gs_mem *gs_mem_window(struct gs_mem *parent, cl_mem handle, uint64_t origin, uint64_t size);

/* Makes a sub-buffer and the window for it. NULL with the error in *err. */
struct gs_mem *gs_mem_sub_buffer(struct gs_mem *parent, cl_mem_flags flags, const cl_buffer_region *r, cl_int *err);

/* An image. parent: the object that owns the texels, or null. flags: the application's. */
struct gs_mem *gs_mem_image(struct gs_context *c, cl_mem handle, struct gs_mem *parent, const cl_image_format *format,
                            const cl_image_desc *desc, cl_mem_flags flags);

/* From now on gs_find() finds the object, and a root is in its context's list. */
void gs_mem_publish(struct gs_mem *m, cl_mem handle);

/* The application retains an object again after its last release, while we have kept the object. */
void gs_mem_retained(struct gs_mem *m);

/* The application's last release. Returns the driver's answer; if a call still uses the object, CL_SUCCESS, and the
 * driver hears of the release later. */
cl_int gs_mem_released(struct gs_mem *m);

/* Unlocks the context. `used`: an object whose use by a call has ended, or null; if the application has released the
 * object meanwhile and no other call uses it, the driver hears of the release now. */
void gs_mem_unlock(struct gs_context *c, struct gs_mem *used);

enum { GS_TRAFFIC_KERNELS = 4 };

/* Counts of a root's bytes that went to and fro: gs_traffic() in coherence.h. */
struct gs_traffic {
    uint64_t left, fetched; /* written by splits on other devices; brought home of these since */
    uint64_t made, taken;   /* perhaps written by kernels; fetched by large blocking reads */
    const void *taken_to;   /* where the last such read put its bytes */
    /* Of the room choose: kernels that might be split and use it, or null; and how many have come. */
    const struct gs_timing *kernel[GS_TRAFFIC_KERNELS];
    unsigned kernels;
};

/* How many references to the handle are ours. */
cl_uint gs_mem_own_references(struct gs_mem *m);

/* Called when nobody holds the object any more. */
void gs_mem_free(struct gs_mem *m);

/* The flags of a handle, as the driver has them. */
cl_mem_flags gs_mem_flags(cl_mem handle);

/* ---- image.c: an image's bytes, and the boxes of texels for ranges of these bytes ---- */

/* The bytes of an image laid out without gaps, and the image's whole region as image calls take it. */
uint64_t gs_image_bytes(const struct gs_mem *root, size_t region[3]);
/* Bytes of a texel, if the object is an image of ours and the box lies within; else 0. */
size_t gs_image_element(const struct gs_mem *m, const size_t origin[3], const size_t region[3]);
uint64_t gs_image_layout(cl_mem handle, const cl_image_desc *desc, size_t region[3]);

/* Bands (see gs_mem): the dimension in which an image type has them; the box of texels for a range of whole bands;
 * and the bands that a box touches, with *covers set if the box covers them entirely. For a window of a
 * buffer, or a box that lies outside, the range is the whole object. */
unsigned gs_image_band_dimension(cl_mem_object_type type);
void gs_image_box(const struct gs_mem *root, struct gs_range r, size_t origin[3], size_t region[3]);
struct gs_range gs_image_range(const struct gs_mem *m, const size_t *origin, const size_t *region, bool *covers);

/* ---- shared.c: devices that work in the host's memory, so all places are the same bytes and nothing moves ---- */

/* Makes a new buffer's bytes one for all places, if the devices can, and sets root->shared. In auto mode on PoCL
 * gs_share_now does so, since asking for the address takes 60 us for each new buffer, and short launches never need
 * one. With the context's lock held. */
void gs_share(struct gs_mem *root);

/* Shares a buffer that gs_share has put off, before a launch with it is planned. Doesn't wait. */
void gs_share_now(struct gs_mem *root);

/* Frees what the context knows of sharing; null is allowed. */
void gs_shared_free(struct gs_shared *s);

/* The memory object by which another device reaches the shared bytes. */
cl_mem gs_share_replica(struct gs_mem *root, cl_int *err);

/* ---- sub_buffers.c ----
 *
 * The order in which a driver's sub-buffers of one object are released. NVIDIA's driver (580.159.04) crashes if two
 * sub-buffers overlap, both were used, and the older one is released first. In places other than home our sub-buffers
 * are made in the order of first use, not in the application's order. At home waiting units may need the application's
 * sub-buffers after their release, when newer ones overlap them. So a sub-buffer that nobody needs waits for newer ones
 * over its range, and serves again if the same form is asked for.
 *
 * If the application itself releases the older one first, so do we: other drivers allow this order. A sub-buffer with a
 * destructor callback waits for commands that need it, but for no newer sub-buffer. */

/* The form of a window of the driver's object `of`: a sub-buffer, or an image of the bytes. */
struct gs_window_form {
    cl_mem of;
    cl_mem_flags flags;
    struct gs_range range;
    const cl_image_format *format; /* null: a sub-buffer */
    const cl_image_desc *desc;
};

/* Makes a window in a place of a root, to be stored in the window's place[].made. Null with the error in *err. */
struct gs_place_window *gs_window_make(struct gs_mem *root, unsigned place, const struct gs_window_form *form,
                                       cl_int *err);
cl_mem gs_window_mem(const struct gs_place_window *w);

/* The application's last release of a sub-buffer, which units may still need. False: this record was released before,
 * and the driver has given out the same handle again. */
bool gs_sub_buffer_released(struct gs_mem *m);

/* The application has set a destructor callback for this sub-buffer. */
void gs_sub_buffer_callback(struct gs_mem *m);

/* Nobody needs a place's window any more: releases it now or after newer ones. Any thread, with or without locks. */
void gs_window_leave(struct gs_mem *root, unsigned place, struct gs_place_window *w);

/* ---- maps that are ours ----
 *
 * Under a daemon gpusparc carries out maps itself, since a driver's map is one command however large: a read into the
 * host's memory, and at the unmap a write from there. A CL_MEM_USE_HOST_PTR buffer uses the application's memory; other
 * objects get pinned memory for the whole object on the first map. Without a daemon the driver maps: NVIDIA's (580.159)
 * has pinned the application's memory and moves 55 GB/s, more than our ring. With the context's lock held; only an
 * object's first map blocks, while memory is pinned. */

/* May we carry out a map of this object? If not, the driver does, which moves nothing or does it another way. */
bool gs_mapped_usable(const struct gs_mem *m, cl_map_flags flags);

/* The host address for byte `offset` of m. Null: none. */
void *gs_mapped_at(struct gs_mem *m, uint64_t offset);

/* The host address for an image's texel, and the bytes from row to row and from slice to slice. */
void *gs_mapped_image_at(struct gs_mem *m, const size_t origin[3], size_t pitch[2]);

/* How many maps of this object are ours, which the driver doesn't count. Takes the context's lock. */
cl_uint gs_mapped_count(const struct gs_mem *m);

/* ---- an object's replicas in places other than home, and their windows; with the context's lock held ---- */

/* A window's range in bytes of its root. */
static inline struct gs_range gs_window_range(const struct gs_mem *m, uint64_t offset, uint64_t bytes)
{
    if (m->root->image || m->image)
        return (struct gs_range){m->origin, m->origin + m->size};
    return (struct gs_range){m->origin + offset, m->origin + offset + bytes};
}

/* The memory object for a kernel in a place: at home m itself, elsewhere its replica, or the window of its root's
 * replica; of a range the range, and *shift: by how many bytes the kernel is to move back its pointer. Made if need be,
 * whole. Null with the error in *err. */
cl_mem gs_replica_of(struct gs_mem *m, unsigned place, uint64_t *shift, cl_int *err);

/* Makes a replica of a root in a place that has none: of a large buffer (a 32nd of the smallest device's memory) a
 * range with these bytes, if that spares three eighths; else whole. gs_process.large: a buffer was so large. Kernels
 * that are translated later have their pointers moved (gs_program.moved), so that they can use ranges. */
cl_int gs_replica_make(struct gs_mem *root, unsigned place, struct gs_range touched);

/* What a place has of a root: an object, the bytes of the root that it has room for, and the last transfer into it, or
 * null. Without a replica: nothing. */
struct gs_place_memory {
    cl_mem mem;
    struct gs_range range;
    cl_event ready;
};
struct gs_place_memory gs_replica_at(const struct gs_mem *root, unsigned place);

/* Bytes of a root that a place needs; `done` gains the events of transfers that bring them. */
struct gs_need {
    unsigned place;
    int part; /* of a split launch; -1: of none */
    const struct gs_rangeset *bytes;
    struct gs_events *done;
    struct gs_range touched; /* what the place must have room for; empty: it has room */
};

/* Later commands that touch the place wait for `end`: of a merge at home, or of a transfer that was given up. */
void gs_busy_until(struct gs_mem *root, unsigned place, cl_event end);

#endif
