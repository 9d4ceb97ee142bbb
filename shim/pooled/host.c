/* SPDX-License-Identifier: MIT */
#include "shim/pooled/host.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "shim/pooled/turns.h"

enum { HUGE_PAGE = 2 * 1024 * 1024, LARGE_BYTES = 1 << 20 };

static bool pins(void)
{
    return gs_group()->type & CL_DEVICE_TYPE_GPU && !gs_group()->remote;
}

bool gs_pool_host_make(struct gs_pool_host *h, uint64_t size)
{
    if (h->base)
        return true;
    h->map_bytes = size + HUGE_PAGE;
    void *map = mmap(NULL, h->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    h->map = map;
    h->base = (char *)h->map + (HUGE_PAGE - (uintptr_t)h->map % HUGE_PAGE) % HUGE_PAGE;
    if (!pins())
        return true;
    madvise(h->map, h->map_bytes, MADV_DONTFORK); /* no device writes to a child's copy */
    madvise(h->map, h->map_bytes, MADV_HUGEPAGE);
    h->n_pieces = (size + GS_POOL_PIECE - 1) / GS_POOL_PIECE;
    h->pieces = calloc(h->n_pieces, sizeof *h->pieces);
    return true;
}

static size_t piece_bytes(const struct gs_pool_host *h, size_t i)
{
    const size_t all = (size_t)((char *)h->map + h->map_bytes - h->base) / GS_POOL_PAGE * GS_POOL_PAGE,
                 left = all - i * GS_POOL_PIECE;
    return left < GS_POOL_PIECE ? left : GS_POOL_PIECE;
}

static void unpin(struct gs_pool_host *h, size_t i)
{
    gs_real()->clReleaseMemObject(h->pieces[i]);
    h->pieces[i] = NULL;
    *h->pinned -= piece_bytes(h, i);
}

void gs_pool_host_free(struct gs_pool_host *h)
{
    for (size_t i = 0; h->pieces && i < h->n_pieces; i++)
        if (h->pieces[i])
            unpin(h, i);
    free(h->pieces);
    if (h->map)
        munmap(h->map, h->map_bytes);
}

/* The pages are made before the driver pins them: it takes longer, with its lock held. */
void gs_pool_host_pin(struct gs_pool_host *h, uint64_t at)
{
    const size_t i = at / GS_POOL_PIECE, bytes = h->pieces ? piece_bytes(h, i) : 0;
    char *begin = h->base + i * GS_POOL_PIECE;
    cl_int err;
    if (!h->pieces || h->pieces[i])
        return;
#ifdef MADV_POPULATE_WRITE
    madvise(begin, bytes, MADV_POPULATE_WRITE);
#endif
    h->pieces[i] =
        gs_real()->clCreateBuffer(h->ctx->o.handle, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, begin, &err);
    if (h->pieces[i])
        *h->pinned += bytes;
}

static void give_pages_back(const struct gs_pool_host *h, struct gs_range bytes)
{
    const uint64_t begin = (bytes.begin + GS_POOL_PAGE - 1) / GS_POOL_PAGE * GS_POOL_PAGE,
                   end = bytes.end / GS_POOL_PAGE * GS_POOL_PAGE;
    if (end > begin)
        madvise(h->base + begin, end - begin, MADV_DONTNEED);
}

void gs_pool_host_drop(struct gs_pool_host *h, struct gs_range bytes, const struct gs_rangeset *valid)
{
    if (!h->map || bytes.end - bytes.begin < LARGE_BYTES)
        return;
    if (!h->pieces) {
        give_pages_back(h, bytes);
        return;
    }
    for (size_t i = bytes.begin / GS_POOL_PIECE; i * GS_POOL_PIECE < bytes.end; i++) {
        const struct gs_range piece = {i * GS_POOL_PIECE, i * GS_POOL_PIECE + piece_bytes(h, i)};
        const struct gs_range within = {piece.begin > bytes.begin ? piece.begin : bytes.begin,
                                        piece.end < bytes.end ? piece.end : bytes.end};
        if (!h->pieces[i]) {
            give_pages_back(h, within);
        } else if (*h->pinned > gs_settings()->pooled_host && !gs_rangeset_touches(valid, piece)) {
            unpin(h, i);
            give_pages_back(h, piece);
        }
    }
}
