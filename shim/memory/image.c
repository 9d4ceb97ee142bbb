/* SPDX-License-Identifier: MIT */
/* See object.h, section image.c. */
#include "shim/memory/object.h"

uint64_t gs_image_layout(cl_mem handle, const cl_image_desc *d, size_t region[3])
{
    size_t element = 0;
    gs_real()->clGetImageInfo(handle, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL);
    region[0] = d->image_width;
    region[1] = d->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? d->image_array_size : d->image_height;
    region[2] = d->image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? d->image_array_size : d->image_depth;
    for (int i = 0; i < 3; i++)
        region[i] = region[i] ? region[i] : 1;
    if (d->image_type == CL_MEM_OBJECT_IMAGE1D)
        region[1] = region[2] = 1;
    if (d->image_type == CL_MEM_OBJECT_IMAGE2D || d->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY)
        region[2] = 1;
    return (uint64_t)region[0] * region[1] * region[2] * element;
}

uint64_t gs_image_bytes(const struct gs_mem *root, size_t region[3])
{
    return gs_image_layout(root->o.handle, &root->image->desc, region);
}

size_t gs_image_element(const struct gs_mem *m, const size_t origin[3], const size_t region[3])
{
    size_t all[3];
    const uint64_t bytes = m && m->image ? gs_image_bytes(m, all) : 0;
    return bytes && gs_image_has_box(all, origin, region) ? (size_t)(bytes / all[0] / all[1] / all[2]) : 0;
}

unsigned gs_image_band_dimension(cl_mem_object_type type)
{
    switch (type) {
    case CL_MEM_OBJECT_IMAGE3D:
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
        return 2;
    case CL_MEM_OBJECT_IMAGE2D:
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
        return 1;
    default:
        return 0;
    }
}

void gs_image_box(const struct gs_mem *root, struct gs_range r, size_t origin[3], size_t region[3])
{
    const struct gs_image *image = root->image;
    gs_image_bytes(root, region);
    origin[0] = origin[1] = origin[2] = 0;
    origin[image->band_dim] = (size_t)(r.begin / image->band_bytes);
    region[image->band_dim] = (size_t)((r.end - r.begin) / image->band_bytes);
}

struct gs_range gs_image_range(const struct gs_mem *m, const size_t *origin, const size_t *region, bool *covers)
{
    const struct gs_mem *root = m->root;
    size_t all[3];
    *covers = false;
    if (!root->image || m != root || !origin || !region)
        return (struct gs_range){m->origin, m->origin + m->size};
    gs_image_bytes(root, all);
    if (!gs_image_has_box(all, origin, region)) /* the driver will refuse it */
        return (struct gs_range){0, root->size};
    *covers = true;
    for (unsigned d = 0; d < 3; d++)
        *covers = *covers && (d == root->image->band_dim || region[d] == all[d]);
    const uint64_t begin = origin[root->image->band_dim] * root->image->band_bytes;
    return (struct gs_range){begin, begin + region[root->image->band_dim] * root->image->band_bytes};
}
