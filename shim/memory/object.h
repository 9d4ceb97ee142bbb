/* SPDX-License-Identifier: MIT */
/* Memory objects from their making to their end: the record, and which of its bytes are valid where. Each is made for a
 * handle of the driver's; other threads find it only after gs_mem_publish. NULL: no memory. */
#ifndef GS_SHIM_MEMORY_OBJECT_H
#define GS_SHIM_MEMORY_OBJECT_H

#include "shim/client/client.h"
#include "shim/order/command.h"

/* One that owns its bytes; kept: flags that the driver wasn't told. */
struct gs_mem *gs_mem_root(struct gs_context *c, cl_mem handle, uint64_t size, cl_mem_flags flags, cl_mem_flags kept);

/* A window of an object of ours, which lives as long as the window does. */
struct gs_mem *gs_mem_window(struct gs_mem *parent, cl_mem handle, uint64_t origin, uint64_t size);

/* A window with the driver's sub-buffer, which is made too. NULL with an error in *err. */
struct gs_mem *gs_mem_sub_buffer(struct gs_mem *parent, cl_mem_flags flags, const cl_buffer_region *r, cl_int *err);

/* An image; parent: the object whose bytes are its texels, or null. flags: the application's. */
struct gs_mem *gs_mem_image(struct gs_context *c, cl_mem handle, struct gs_mem *parent, const cl_image_format *format,
                            const cl_image_desc *desc, cl_mem_flags flags);

/* From now on gs_find() finds it, and a root is among those of its context. */
void gs_mem_publish(struct gs_mem *m, cl_mem handle);

/* The application has an object again that others have kept since its last release. */
void gs_mem_retained(struct gs_mem *m);

/* The application has let it go for the last time: what the driver says to that. Of an object in use it hears later. */
cl_int gs_mem_released(struct gs_mem *m);

/* Gives the context's lock back. The object, or null, of which a call's use has ended, goes now if the application has
 * let it go meanwhile, and no other call uses it. */
void gs_mem_unlock(struct gs_context *c, struct gs_mem *used);

/* Bytes of a root that went to and fro so far: gs_traffic() of the room coherence. */
struct gs_traffic {
    uint64_t left, fetched; /* that splits wrote on other devices; and those of them brought home since */
    uint64_t made, taken;   /* that kernels may have written, and that large blocking reads have fetched */
    const void *taken_to;   /* where the last of these put them */
};

/* How many references to its handle are not the application's. */
cl_uint gs_mem_own_references(struct gs_mem *m);

/* Nobody holds it any more. */
void gs_mem_free(struct gs_mem *m);

/* The flags of a handle, as the driver has them. */
cl_mem_flags gs_mem_flags(cl_mem handle);

/* ---- image.c: the bytes of images, and the boxes of texels that ranges of them are ---- */

/* The bytes of an image laid out without gaps, and its whole region as the image calls take it. */
uint64_t gs_image_bytes(const struct gs_mem *root, size_t region[3]);
/* Bytes of a texel of an image of ours, of which the box is a part; of another object, or a box, 0. */
size_t gs_image_element(const struct gs_mem *m, const size_t origin[3], const size_t region[3]);
uint64_t gs_image_layout(cl_mem handle, const cl_image_desc *desc, size_t region[3]);

/* The dimension in which images of a type have bands (see gs_mem); the box of texels that a range of bands is, or one
 * of rows of a slice; and the bands that a box touches, of all of which it is every texel if it covers them. Of an
 * image that is a window of a buffer, and where the box lies outside: the whole. */
unsigned gs_image_band_dimension(cl_mem_object_type type);
void gs_image_box(const struct gs_mem *root, struct gs_range r, size_t origin[3], size_t region[3]);
struct gs_range gs_image_range(const struct gs_mem *m, const size_t *origin, const size_t *region, bool *covers);

/* ---- shared.c: devices that work in the host's memory: all places are the same bytes, so nothing moves ---- */

/* For a new buffer, before anything uses it: makes its bytes one for all places if the devices can; root->shared is
 * then set. In auto mode and on PoCL this is put off until a launch with the buffer is planned, and short launches
 * never are: to ask for the address takes 60 us there for each new buffer. With the context's lock held. */
void gs_share(struct gs_mem *root);

/* The same, before a launch with the buffer is planned. Doesn't wait. */
void gs_share_now(struct gs_mem *root);

/* What the context knows of that. */
void gs_shared_free(struct gs_shared *s);

/* The memory object by which another device reaches the shared bytes. */
cl_mem gs_share_replica(struct gs_mem *root, cl_int *err);

/* ---- sub_buffers.c ----
 *
 * The order in which the driver's sub-buffers of one object are let go. NVIDIA's driver (580.159.04) crashes if two of
 * them overlap, both were used, and the older one is let go first. On the other places ours are made in the order of
 * their first use, not in the application's. At home units that wait may need the application's sub-buffers after
 * their release, when newer ones overlap them. So a sub-buffer that nobody needs waits for the newer ones over its
 * range, and serves again if the same form is asked for.
 *
 * If the application itself lets the older one go first, that order stays: another driver takes it. A sub-buffer with
 * a destructor callback waits for commands that need it, but for no newer sub-buffer. */

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

/* ---- maps that are ours ----
 *
 * Maps that gpusparc carries out itself, under a daemon, since a driver's map is one command however large: a read into
 * the host's memory and, at the unmap, a write from it. A buffer in the application's own memory (CL_MEM_USE_HOST_PTR)
 * is read and written there; others get pinned memory of ours, for all of the object, on the first such map. Without a
 * daemon maps are the driver's: NVIDIA's (580.159) has pinned the application's memory and moves 55 GB/s, more than our
 * ring. With the context's lock held; only the first map blocks, while its memory is pinned. */

/* May a map of it be ours? Else the driver has to be asked: it knows of a difference, or would not move anything. */
bool gs_mapped_usable(const struct gs_mem *m, cl_map_flags flags);

/* The host's memory for byte `offset` of m. Null: there is none. */
void *gs_mapped_at(struct gs_mem *m, uint64_t offset);

/* The same for an image, of which the host's memory holds all texels, in rows and slices so many bytes apart. */
void *gs_mapped_image_at(struct gs_mem *m, const size_t origin[3], size_t pitch[2]);

/* How many maps of it are ours: the driver doesn't count them. */
cl_uint gs_mapped_count(const struct gs_mem *m);

/* ---- a memory object's copies on other places than home, and their windows. With the context's lock held ---- */

/* A window's range in bytes of its root. */
static inline struct gs_range gs_window_range(const struct gs_mem *m, uint64_t offset, uint64_t bytes)
{
    if (m->root->image || m->image)
        return (struct gs_range){m->origin, m->origin + m->size};
    return (struct gs_range){m->origin + offset, m->origin + offset + bytes};
}

/* The memory object to give to a kernel or a command on a place: m itself at home, else its replica or the same window
 * of it, made now if need be. Null with an error in *err. */
cl_mem gs_replica_of(struct gs_mem *m, unsigned place, cl_int *err);
/* The same of a root, if it is there; else null. */
cl_mem gs_replica_at(const struct gs_mem *root, unsigned place);

/* The bytes of a root that a place needs; `done` hears of the transfers that bring them. */
struct gs_need {
    unsigned place;
    int part; /* of a split launch; -1: of none */
    const struct gs_rangeset *bytes;
    struct gs_events *done;
};

/* Of each place that needs bytes. */
cl_int gs_replicas_make(struct gs_mem *root, const struct gs_need *w, unsigned n);

/* What is enqueued later and touches the place comes after `end`: home after a split whose outputs were merged there,
 * or a place on whose way something is that was given up. */
void gs_busy_until(struct gs_mem *root, unsigned place, cl_event end);

#endif
