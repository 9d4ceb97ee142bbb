/* SPDX-License-Identifier: MIT */

#include <stdlib.h>

#include "shim/staging/staging.h"
#include "shim/memory/bytes.h"
#include "shim/memory/object.h"

bool gs_mapped_usable(const struct gs_mem *m, cl_map_flags flags)
{
    const cl_mem_flags kept_out = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;
    const bool separate = !m->root->o.ctx->shared_memory || gs_settings()->transfer == GS_TRANSFER_PINNED;
    const bool known =
        flags == CL_MAP_WRITE_INVALIDATE_REGION || (flags && !(flags & ~(cl_map_flags)(CL_MAP_READ | CL_MAP_WRITE)));
    /* Drivers don't agree on which of the two pitches lies between the layers of a 1D image array. */
    const bool laid_out =
        m->image ? m->root == m && !m->home_only && m->image->desc.image_type != CL_MEM_OBJECT_IMAGE1D_ARRAY
                 : !m->root->image;
    return separate && known && laid_out && !((m->flags | m->root->flags) & kept_out) &&
           !m->root->is_svm; /* what the application shares with the device is no copy */
}

void gs_mapped_free(struct gs_mem *root)
{
    if (root->bytes->mapped)
        gs_pinned_memory_free(root->bytes->mapped);
    free(root->bytes->mapped);
    root->bytes->mapped = NULL;
}

/* As large as the object. */
static struct gs_pinned_memory *make(const struct gs_mem *root)
{
    struct gs_pinned_memory *p = calloc(1, sizeof *p);
    if (p && gs_pinned_memory_make(p, root->o.ctx, (size_t)root->size, true) == CL_SUCCESS)
        return p;
    free(p);
    return NULL;
}

/* Does the object lie in the application's own memory? */
static bool is_own(const struct gs_mem *root)
{
    return root->flags & CL_MEM_USE_HOST_PTR;
}

/* The host's memory for all of the root. */
static char *base_of(struct gs_mem *root)
{
    char *base = NULL;
    if (is_own(root)) {
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
    const bool own = is_own(m);
    pitch[0] = own && m->image->desc.image_row_pitch ? m->image->desc.image_row_pitch : all[0] * element;
    pitch[1] = own && m->image->desc.image_slice_pitch ? m->image->desc.image_slice_pitch : pitch[0] * all[1];
    char *base = element ? base_of(m) : NULL;
    return base ? base + origin[2] * pitch[1] + origin[1] * pitch[0] + origin[0] * element : NULL;
}

cl_uint gs_mapped_count(const struct gs_mem *m)
{
    cl_uint n = 0;
    for (const struct gs_mapping *map = m->mappings; map; map = map->next)
        n += map->ours;
    return n;
}
