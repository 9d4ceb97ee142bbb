/* SPDX-License-Identifier: MIT */
/* The host place's memory: a root's address range; the system makes its pages when they are first written. GPUs'
 * drivers pin the pieces that are used first, for the link's pace: as many bytes of all host places as the user has
 * given with `--memory pooled+host:SIZE`, or an eighth of the machine's memory, at most 16 GiB, if that is more. With
 * the store locked, but for gs_pool_host_make and gs_pool_host_free. */
#ifndef GS_SHIM_POOLED_HOST_H
#define GS_SHIM_POOLED_HOST_H

#include "shim/record/objects.h"

/* A device's driver pins one piece at a time; a transfer stays within one. */
enum { GS_POOL_PIECE = 32 * 1024 * 1024 };

struct gs_pool_host {
    const struct gs_context *ctx;
    uint64_t *pinned; /* counts the bytes that are pinned */
    char *base;
    void *map; /* of ours; null: the application gave the memory */
    size_t map_bytes;
    cl_mem *pieces; /* what pins each; null: it isn't pinned. Owned; null: none is ever pinned */
    size_t n_pieces;
};

/* The caller has set `ctx`, `pinned`, and `base` to the application's memory or null. False: no memory. */
bool gs_pool_host_make(struct gs_pool_host *h, uint64_t size);
void gs_pool_host_free(struct gs_pool_host *h);

/* Pins the piece that holds the byte, where pinning helps and is allowed. The piece stays pinned. */
void gs_pool_host_pin(struct gs_pool_host *h, uint64_t at);

/* The bytes are valid here no more: their pages go back to the system, except pinned pages. */
void gs_pool_host_drop(struct gs_pool_host *h, struct gs_range bytes);

#endif
