/* SPDX-License-Identifier: MIT */
#include "shim/memory/object.h"

#include "common/lock/locked.h"
#include "shim/events/gates.h"
#include "shim/memory/bytes.h"
#include "shim/staging/staging.h"

struct whole {
    struct gs_mem m;
    struct gs_bytes bytes; /* begins with what each command asks for, as the head does */
    struct gs_image image;
    struct gs_replica place[];
};

/* All zeros, with a place for each of the context's devices. */
static struct gs_mem *new_mem(const struct gs_context *c)
{
    struct whole *w = calloc(1, sizeof *w + c->n * sizeof *w->place);
    if (!w)
        return NULL;
    w->m.bytes = &w->bytes;
    w->bytes.place = w->place;
    return &w->m;
}

static const cl_mem_flags host_flags = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;

cl_mem_flags gs_mem_flags(cl_mem handle)
{
    cl_mem_flags flags = 0;
    gs_real()->clGetMemObjectInfo(handle, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
    return flags;
}

/* Memory that the application shares with the device. */
static bool is_svm(cl_mem handle)
{
    cl_bool is = CL_FALSE;
    return gs_real()->clGetMemObjectInfo(handle, CL_MEM_USES_SVM_POINTER, sizeof is, &is, NULL) == CL_SUCCESS && is;
}

struct gs_mem *gs_mem_root(struct gs_context *c, cl_mem handle, uint64_t size, cl_mem_flags flags, cl_mem_flags kept)
{
    struct gs_mem *m = new_mem(c);
    if (!m)
        return NULL;
    m->o.ctx = c;
    m->root = m;
    m->size = size;
    m->flags = m->asked_flags = flags | kept;
    m->kept_flags = kept;
    m->bytes->place[0].mem = handle;
    m->bytes->place[0].range.end = size;
    m->is_svm = m->flags & CL_MEM_USE_HOST_PTR && is_svm(handle);
    if (gs_bytes_init(m, m->flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)) < 0) {
        free(m->bytes->place[0].valid.v);
        free(m->bytes->undefined.v);
        free(m);
        return NULL;
    }
    if (!c->pooled) /* a pooled buffer's windows are counted instead */
        gs_memory_used(0, (int64_t)size);
    return m;
}

struct gs_mem *gs_mem_window(struct gs_mem *parent, cl_mem handle, uint64_t origin, uint64_t size)
{
    struct gs_mem *m = new_mem(parent->o.ctx);
    if (!m)
        return NULL;
    m->root = parent->root;
    m->origin = parent->origin + origin;
    m->size = size;
    m->flags = gs_mem_flags(handle);
    m->flags |= m->flags & host_flags ? 0 : parent->flags & host_flags;
    m->home_only = parent->home_only;
    gs_hold(&m->root->o);
    /* Keeps the root's handle: the application may release the handle while we still move bytes by it. */
    m->bytes->keeps_root = gs_real()->clRetainMemObject(m->root->o.handle) == CL_SUCCESS;
    atomic_fetch_add(&m->root->bytes->windows, m->bytes->keeps_root);
    GS_LOCKED(&m->root->o.ctx->lock);
    m->root->bytes->users++;
    return m;
}

struct gs_mem *gs_mem_sub_buffer(struct gs_mem *parent, cl_mem_flags flags, const cl_buffer_region *r, cl_int *err)
{
    const struct gs_window_form form = {
        .of = parent->o.handle, .flags = flags, .range = {r->origin, r->origin + r->size}};
    struct gs_place_window *w = gs_window_make(parent, 0, &form, err);
    struct gs_mem *m = w ? gs_mem_window(parent, gs_window_mem(w), r->origin, r->size) : NULL;
    if (m) {
        m->bytes->place[0].made = w;
        m->is_sub_buffer = true;
        m->asked_flags = flags;
        gs_insert(&m->o, GS_MEM, gs_window_mem(w), parent->o.ctx);
    } else if (w) {
        *err = CL_OUT_OF_HOST_MEMORY;
        gs_window_leave(parent, 0, w);
    }
    return m;
}

struct gs_mem *gs_mem_image(struct gs_context *c, cl_mem handle, struct gs_mem *parent, const cl_image_format *format,
                            const cl_image_desc *desc, cl_mem_flags flags)
{
    size_t region[3];
    const uint64_t bytes = gs_image_layout(handle, desc, region);
    const cl_mem_flags told = gs_mem_flags(handle), kept = flags & host_flags & ~told;
    struct gs_mem *m =
        parent ? gs_mem_window(parent, handle, 0, parent->size) : gs_mem_root(c, handle, bytes, told, kept);
    if (!m)
        return NULL;
    m->asked_flags = flags;
    struct gs_image *image = &((struct whole *)m)->image;
    const unsigned dim = gs_image_band_dimension(desc->image_type);
    *image = (struct gs_image){.format = *format, .desc = *desc, .band_bytes = bytes / region[dim], .band_dim = dim};
    m->image = image;
    /* An image of an image shares its texels in another format; core calls copy neither samples nor mip levels. */
    m->home_only = (parent && parent->image) || desc->num_samples || desc->num_mip_levels;
    if (parent && parent->image)
        m->root->home_only = true;
    return m;
}

/* Counts a new handle of the root or a window; the first puts the root into the context's list. The lock is held. */
static void add_user(struct gs_mem *root)
{
    struct gs_context *c = root->o.ctx;
    if (root->bytes->users++)
        return;
    root->bytes->prev = NULL;
    root->next = c->mems;
    if (c->mems)
        c->mems->bytes->prev = root;
    c->mems = root;
}

void gs_mem_retained(struct gs_mem *m)
{
    if (m->o.ctx->pooled && !m->is_sub_buffer) /* its record keeps the driver's object */
        gs_real()->clReleaseMemObject(m->o.handle);
    GS_LOCKED(&m->o.ctx->lock);
    add_user(m->root);
}

static bool is_large(const struct gs_mem *root)
{
    enum { ONE_OF = 32 };
    bool large = false;
    for (unsigned i = 0; i < root->o.ctx->n && !root->image && !root->shared && !large; i++)
        large = gs_group()->memory[i] && root->size >= gs_group()->memory[i] / ONE_OF;
    return large;
}

void gs_mem_publish(struct gs_mem *m, cl_mem handle)
{
    struct gs_context *c = m->root->o.ctx;
    gs_insert(&m->o, GS_MEM, handle, c);
    if (m->root != m)
        return;
    GS_LOCKED(&c->lock);
    if (c->n > 1 && gs_group()->shared_memory && !m->image && !m->pool)
        gs_share(m);
    const struct gs_settings *s = gs_settings(); /* --verify and --hosts have whole replicas, as have daemons' units */
    if (c->n > 1 && is_large(m) && !c->pooled && !m->bytes->to_share && !s->verify && !s->remote && !gs_scheduled())
        atomic_store(&gs_process.large, true);
    add_user(m);
}

/* Counts a handle less, before its release; the last takes the root off the context's list. True: a call uses m. */
static bool unlink_root(struct gs_mem *m)
{
    struct gs_context *c = m->o.ctx;
    struct gs_mem *root = m->root;
    GS_LOCKED(&c->lock);
    if (--root->bytes->users == 0) {
        struct gs_mem *prev = root->bytes->prev;
        if (prev)
            prev->next = root->next;
        else
            c->mems = root->next;
        if (root->next)
            root->next->bytes->prev = prev;
    }
    m->bytes->let_go += m->bytes->calls > 0;
    return m->bytes->calls;
}

static cl_int release(struct gs_mem *m)
{
    cl_mem handle = m->o.handle;
    if (!m->o.ctx->pooled) { /* a sub-buffer goes in its turn, and a map that is ours lasts */
        gs_hold(&m->o);
        if (!gs_gate_waits(gs_drop, m, false))
            gs_drop(&m->o);
    }
    const bool by_record = m->is_sub_buffer ? gs_sub_buffer_released(m) : m->o.ctx->pooled;
    gs_drop(&m->o); /* before the driver has its caches full of other things */
    return by_record ? CL_SUCCESS : gs_real()->clReleaseMemObject(handle);
}

cl_int gs_mem_released(struct gs_mem *m)
{
    return unlink_root(m) ? CL_SUCCESS : release(m);
}

void gs_mem_unlock(struct gs_context *c, struct gs_mem *used)
{
    unsigned go = used && !used->bytes->calls ? used->bytes->let_go : 0;
    if (go)
        used->bytes->let_go = 0;
    pthread_mutex_unlock(&c->lock);
    while (go--)
        release(used);
}

/* Handles retained by replicas in the object's memory, windows and calls. */
cl_uint gs_mem_own_references(struct gs_mem *m)
{
    GS_LOCKED(&m->o.ctx->lock);
    cl_uint n = atomic_load(&m->bytes->windows) + m->bytes->let_go;
    for (unsigned i = 1; m->root == m && m->shared && i < m->o.ctx->n; i++)
        n += m->bytes->place[i].mem != NULL;
    return n;
}

static void free_place(struct gs_mem *m, unsigned place)
{
    struct gs_replica *r = &m->bytes->place[place];
    if (m->root != m && r->made)
        gs_window_leave(m->root, place, r->made);
    else if (place)
        GS_RELEASE(MemObject, r->mem);
    GS_RELEASE(Event, r->ready);
    for (size_t k = 0; k < r->n_pending; k++)
        gs_pending_drop(&r->pending[k]);
    free(r->pending);
    free(r->valid.v);
}

void gs_mem_free(struct gs_mem *m)
{
    struct gs_bytes *b = m->bytes;
    for (unsigned i = 0; i < m->o.ctx->n; i++) {
        struct gs_replica *r = &b->place[i];
        if (m->root == m && !m->o.ctx->pooled && (!i || (r->mem && !m->shared)))
            gs_memory_used(i, -(int64_t)(r->range.end - r->range.begin));
        free_place(m, i);
    }
    for (struct gs_mapping *map = m->mappings.newest, *next; map; map = next) {
        next = map->next;
        free(map);
    }
    if (b->mapped)
        gs_pinned_memory_free(b->mapped);
    free(b->mapped);
    for (unsigned i = 0; b->prefetch && i < GS_PREFETCH_ITERATIONS * b->prefetch->places; i++)
        free(b->prefetch->sets[i].v);
    free(b->prefetch);
    GS_RELEASE(Event, b->split_end);
    if (m->root != m) {
        cl_mem kept = b->keeps_root ? m->root->o.handle : NULL;
        atomic_fetch_sub(&m->root->bytes->windows, b->keeps_root);
        gs_drop(&m->root->o); /* before the driver can give out the root's handle again */
        GS_RELEASE(MemObject, kept);
    }
    free(b->undefined.v);
    free(b->sent.v);
    free(b->spoiled.v);
    free(m);
}

/* ---- copies on other places ---- */

/* A 16th more on both sides, for other kernels whose parts are cut a little elsewhere. What is aligned in the buffer is
 * aligned in the range. */
static struct gs_range room_for(const struct gs_mem *root, struct gs_range touched)
{
    enum { PAGE = 4096, MORE = 16 };
    const uint64_t more = (touched.end - touched.begin) / MORE + PAGE;
    struct gs_range room = {touched.begin > more ? (touched.begin - more) / PAGE * PAGE : 0, touched.end + more};
    room.end = room.end < root->size ? room.end : root->size;
    const bool spares = (room.end - room.begin) / 5 <= root->size / 8;
    return atomic_load(&gs_process.large) && is_large(root) && spares ? room : (struct gs_range){0, root->size};
}

static cl_mem make_replica(struct gs_mem *root, struct gs_range room, cl_int *err)
{
    struct _cl_context *ctx = root->o.ctx->o.handle;
    const cl_mem_flags flags = CL_MEM_READ_WRITE;
    if (root->shared)
        return gs_share_replica(root, err);
    if (!root->image)
        return gs_real()->clCreateBuffer(ctx, flags, (size_t)(room.end - room.begin), NULL, err);
    cl_image_desc desc = root->image->desc;
    desc.image_row_pitch = desc.image_slice_pitch = 0;
    desc.mem_object = NULL;
    return gs_real()->clCreateImage(ctx, flags, &root->image->format, &desc, NULL, err);
}

/* Makes the same window of the root's replica. */
static cl_mem make_window(struct gs_mem *m, unsigned place, cl_int *err)
{
    const struct gs_window_form form = {.of = m->root->bytes->place[place].mem,
                                        .flags = CL_MEM_READ_WRITE,
                                        .range = {m->origin, m->origin + m->size},
                                        .format = m->image ? &m->image->format : NULL,
                                        .desc = m->image ? &m->image->desc : NULL};
    m->bytes->place[place].made = gs_window_make(m->root, place, &form, err);
    return m->bytes->place[place].made ? gs_window_mem(m->bytes->place[place].made) : NULL;
}

cl_int gs_replica_make(struct gs_mem *root, unsigned place, struct gs_range touched)
{
    cl_int err;
    const struct gs_range room = room_for(root, touched);
    cl_mem mem = make_replica(root, room, &err);
    if (!mem)
        return err;
    if (!root->shared)
        gs_memory_used(place, (int64_t)(room.end - room.begin));
    root->bytes->place[place].mem = mem;
    root->bytes->place[place].range = room;
    return CL_SUCCESS;
}

cl_mem gs_replica_of(struct gs_mem *m, unsigned place, uint64_t *shift, cl_int *err)
{
    *err = CL_SUCCESS;
    if (place == 0)
        return m->o.handle;
    struct gs_replica *r = &m->root->bytes->place[place];
    if (!r->mem)
        *err = gs_replica_make(m->root, place, (struct gs_range){0, m->root->size});
    const bool whole = r->range.end - r->range.begin == m->root->size;
    if (!whole && r->mem)
        *shift = r->range.begin - m->origin;
    if (m == m->root || !r->mem || !whole)
        return r->mem;
    if (!m->bytes->place[place].mem)
        m->bytes->place[place].mem = make_window(m, place, err);
    return m->bytes->place[place].mem;
}

struct gs_place_memory gs_replica_at(const struct gs_mem *root, unsigned place)
{
    const struct gs_replica *r = &root->bytes->place[place];
    return (struct gs_place_memory){r->mem, r->range, r->ready};
}

void gs_busy_until(struct gs_mem *root, unsigned place, cl_event end)
{
    if (gs_real()->clRetainEvent(end) == CL_SUCCESS)
        gs_event_replace(&root->bytes->place[place].ready, end);
}

/* ---- maps that are ours ---- */

bool gs_mapped_usable(const struct gs_mem *m, cl_map_flags flags)
{
    const bool separate = !gs_group()->shared_memory || gs_settings()->transfer == GS_TRANSFER_PINNED;
    const bool known =
        flags == CL_MAP_WRITE_INVALIDATE_REGION || (flags && !(flags & ~(cl_map_flags)(CL_MAP_READ | CL_MAP_WRITE)));
    /* Drivers don't agree on which of the two pitches lies between the layers of a 1D image array. */
    const bool laid_out =
        m->image ? m->root == m && !m->home_only && m->image->desc.image_type != CL_MEM_OBJECT_IMAGE1D_ARRAY
                 : !m->root->image;
    return separate && known && laid_out && !((m->flags | m->root->flags) & host_flags) &&
           !m->root->is_svm; /* what the application shares with the device is no copy */
}

static struct gs_pinned_memory *make(const struct gs_mem *root)
{
    struct gs_pinned_memory *p = calloc(1, sizeof *p);
    if (p && gs_pinned_memory_make(p, root->o.ctx, (size_t)root->size, (size_t)root->size, true) == CL_SUCCESS)
        return p;
    free(p);
    return NULL;
}

static char *base_of(struct gs_mem *root)
{
    char *base = NULL;
    if (root->flags & CL_MEM_USE_HOST_PTR) { /* the application's own memory */
        gs_real()->clGetMemObjectInfo(root->o.handle, CL_MEM_HOST_PTR, sizeof base, &base, NULL);
        return base;
    }
    if (!root->bytes->mapped)
        root->bytes->mapped = make(root);
    return root->bytes->mapped ? root->bytes->mapped->base : NULL;
}

void *gs_mapped_at(struct gs_mem *m, uint64_t offset)
{
    char *base = base_of(m->root);
    return base ? base + m->origin + offset : NULL;
}

void *gs_mapped_image_at(struct gs_mem *m, const size_t origin[3], size_t pitch[2])
{
    size_t all[3], element = 0;
    gs_real()->clGetImageInfo(m->o.handle, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL);
    gs_image_bytes(m, all);
    const bool own = m->flags & CL_MEM_USE_HOST_PTR;
    pitch[0] = own && m->image->desc.image_row_pitch ? m->image->desc.image_row_pitch : all[0] * element;
    pitch[1] = own && m->image->desc.image_slice_pitch ? m->image->desc.image_slice_pitch : pitch[0] * all[1];
    char *base = element ? base_of(m) : NULL;
    return base ? base + origin[2] * pitch[1] + origin[1] * pitch[0] + origin[0] * element : NULL;
}

cl_uint gs_mapped_count(const struct gs_mem *m)
{
    GS_LOCKED(&m->root->o.ctx->lock);
    cl_uint n = 0;
    for (const struct gs_mapping *map = m->mappings.newest; map; map = map->next)
        n += map->ours;
    return n;
}
