/* SPDX-License-Identifier: MIT */
/* The bytes of images, and the boxes of texels that ranges of them are. */
#ifndef GS_SHIM_MEMORY_IMAGE_H
#define GS_SHIM_MEMORY_IMAGE_H

#include "shim/record/objects.h"

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

#endif
