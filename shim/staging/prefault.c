/* SPDX-License-Identifier: MIT */
#include "shim/staging/prefault.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14; an older one refuses it */
#endif

enum { HUGE_PAGE = 2 * 1024 * 1024 };

/* The part of a range that is made of whole pages of a size. */
static size_t whole_pages(void *at, size_t bytes, size_t size, void **begin)
{
    const uintptr_t first = ((uintptr_t)at + size - 1) / size * size, end = ((uintptr_t)at + bytes) / size * size;
    *begin = (void *)first;
    return end > first ? end - first : 0;
}

bool gs_prefault_prepare(void *at, size_t bytes)
{
    enum { LOOKS = 4 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const int before = errno; /* the application's */
    void *begin;
    bool fresh = false;
    const size_t n = whole_pages(at, bytes, page, &begin) / page;
    for (size_t i = 0; i < LOOKS && n && !fresh; i++) {
        unsigned char there = 1;
        fresh = mincore((char *)begin + (n - 1) * i / (LOOKS - 1) * page, page, &there) == 0 && !(there & 1);
    }
    const size_t huge = fresh ? whole_pages(at, bytes, HUGE_PAGE, &begin) : 0;
    if (huge)
        madvise(begin, huge, MADV_HUGEPAGE);
    errno = before;
    return fresh;
}

void gs_prefault_make(void *at, size_t bytes)
{
    const int before = errno;
    void *begin;
    const size_t n = whole_pages(at, bytes, (size_t)sysconf(_SC_PAGESIZE), &begin);
    if (n)
        madvise(begin, n, MADV_POPULATE_WRITE);
    errno = before;
}
