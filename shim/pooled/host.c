/* SPDX-License-Identifier: MIT */
/* See store.h, section host.c. */
#include "shim/pooled/store.h"

#include <sys/mman.h>
#include <unistd.h>

#include "shim/events/gates.h"

enum { HUGE_PAGE = 2 * 1024 * 1024, LARGE_BYTES = 1 << 20 };

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
    if (!(gs_group()->type & CL_DEVICE_TYPE_GPU) || gs_group()->remote) /* nothing is ever pinned */
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

void gs_pool_host_free(struct gs_pool_host *h)
{
    for (size_t i = 0; h->pieces && i < h->n_pieces; i++)
        if (h->pieces[i]) {
            gs_release_now(h->pieces[i]);
            *h->pinned -= piece_bytes(h, i);
        }
    free(h->pieces);
    if (h->map)
        munmap(h->map, h->map_bytes);
}

/* How many bytes of all host places may be pinned. */
static uint64_t most_pinned(void)
{
    enum { SHARE = 8, MOST_GIB = 16 };
    const uint64_t share = (uint64_t)sysconf(_SC_PHYS_PAGES) / SHARE * (uint64_t)sysconf(_SC_PAGESIZE),
                   most = (uint64_t)MOST_GIB << 30, least = share < most ? share : most,
                   given = gs_settings()->pooled_host;
    return given > least ? given : least;
}

/* Makes the pages before the driver pins them, since the driver would take longer, with its lock held. */
bool gs_pool_host_pin(struct gs_pool_host *h, uint64_t at)
{
    const size_t i = at / GS_POOL_PIECE, bytes = h->pieces ? piece_bytes(h, i) : 0;
    char *begin = h->base + i * GS_POOL_PIECE;
    cl_int err;
    if (!h->pieces || h->pieces[i] || *h->pinned + bytes > most_pinned())
        return h->pieces && h->pieces[i];
    gs_populate_make(begin, bytes);
    h->pieces[i] =
        gs_real()->clCreateBuffer(h->ctx->o.handle, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, begin, &err);
    if (h->pieces[i])
        *h->pinned += bytes;
    return h->pieces[i];
}

static void give_pages_back(const struct gs_pool_host *h, struct gs_range bytes)
{
    const uint64_t begin = (bytes.begin + GS_POOL_PAGE - 1) / GS_POOL_PAGE * GS_POOL_PAGE,
                   end = bytes.end / GS_POOL_PAGE * GS_POOL_PAGE;
    if (end > begin)
        madvise(h->base + begin, end - begin, MADV_DONTNEED);
}

void gs_pool_host_drop(struct gs_pool_host *h, struct gs_range bytes)
{
    if (!h->map || bytes.end - bytes.begin < LARGE_BYTES)
        return;
    for (uint64_t at = bytes.begin, end; at < bytes.end; at = end) {
        const size_t i = at / GS_POOL_PIECE;
        end = (i + 1) * GS_POOL_PIECE < bytes.end ? (i + 1) * GS_POOL_PIECE : bytes.end;
        if (!h->pieces || !h->pieces[i])
            give_pages_back(h, (struct gs_range){at, end});
    }
}
