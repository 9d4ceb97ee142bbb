/* SPDX-License-Identifier: MIT */
#include "shim/staging/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/lock/locked.h"
#include "common/lock/rank.h"

#include "shim/process/threads.h"

enum { MOST_THREADS = 12, HUGE_PAGE = 2 * 1024 * 1024 };

/* Handing out a share pays from so many bytes on (some 15 us); each huge page is made by one thread. */
enum { LEAST_SHARE = 64 * 1024, FRESH_SHARE = HUGE_PAGE };

struct gs_pool {
    pthread_t thread[MOST_THREADS];
    unsigned n;
    pthread_mutex_t lock;              /* all below, and `taken` and `left` of jobs; held for a few loads */
    struct gs_copy_job *first, **last; /* jobs with shares that nobody has taken */
    bool stopping;
    pthread_cond_t called, ended;
};

/* ---- pages ---- */

/* The part of a range that consists of whole pages of a size. */
static size_t whole_pages(void *at, size_t bytes, size_t size, void **begin)
{
    const uintptr_t first = ((uintptr_t)at + size - 1) / size * size, end = ((uintptr_t)at + bytes) / size * size;
    *begin = (void *)first;
    return end > first ? end - first : 0;
}

bool gs_populate_prepare(void *at, size_t bytes)
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

void gs_populate_make(void *at, size_t bytes)
{
    const int before = errno;
    void *begin;
    const size_t n = whole_pages(at, bytes, (size_t)sysconf(_SC_PAGESIZE), &begin);
    if (n)
        madvise(begin, n, MADV_POPULATE_WRITE); /* Linux before 5.14 refuses it */
    errno = before;
}

/* ---- jobs ---- */

/* Past the cache: nobody reads the bytes soon, and an H200's link reads other cores' caches at 20 GB/s, not 50. */
static void copy(const struct gs_copy_job *job, unsigned share)
{
    struct gs_box box;
    gs_cut_box(&job->cut, share, &box);
    for (size_t z = box.begin[2]; z < box.end[2]; z++)
        for (size_t y = box.begin[1]; y < box.end[1]; y++) {
            const size_t n = box.end[0] - box.begin[0];
            char *dst = job->dst.at + z * job->dst.slice + y * job->dst.row + box.begin[0];
            const char *src = job->src.at + z * job->src.slice + y * job->src.row + box.begin[0];
            if (job->fresh)
                gs_populate_make(dst, n);
            if (src != dst)
                gs_copy_past_cache(dst, src, n);
        }
}

/* With the lock held. The job must have shares left. */
static unsigned take_share(struct gs_pool *p, struct gs_copy_job *job)
{
    const unsigned share = job->taken++;
    struct gs_copy_job **at = &p->first;
    if (job->taken < job->cut.n)
        return share;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    if (!*at)
        p->last = at;
    return share;
}

/* With the lock held, which is open while copying. The job must have shares left. */
static void copy_share(struct gs_pool *p, struct gs_copy_job *job)
{
    const unsigned share = take_share(p, job);
    pthread_mutex_unlock(&p->lock);
    copy(job, share);
    pthread_mutex_lock(&p->lock);
    if (--job->left == 0) /* the job is its owner's again */
        pthread_cond_broadcast(&p->ended);
}

static void *copy_jobs(void *arg)
{
    struct gs_pool *p = arg;
    GS_LOCKED(&p->lock);
    while (!p->stopping)
        if (p->first)
            copy_share(p, p->first);
        else
            pthread_cond_wait(&p->called, &p->lock);
    return NULL;
}

/* Shares of whole pages or rows: one for each thread and for who waits; in fresh memory for each huge page. */
static void cut(const struct gs_pool *p, struct gs_copy_job *job)
{
    enum { PAGE_BYTES = 4096 };
    const size_t *n = job->region, bytes = n[0] * n[1] * n[2], shares = gs_least(bytes / LEAST_SHARE, p->n + 1),
                 each = shares ? (bytes / shares + PAGE_BYTES) / PAGE_BYTES * PAGE_BYTES : bytes;
    gs_cut_make(&job->cut, &(const struct gs_box){.end = {n[0], n[1], n[2]}}, job->fresh ? FRESH_SHARE : each, false);
    job->taken = 0;
    job->left = job->cut.n;
}

/* ---- the pool ---- */

struct gs_pool *gs_pool_start(unsigned threads)
{
    struct gs_pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->lock = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP; /* tries again before sleeping */
    gs_rank_lock(&p->lock, GS_RANK_COPY_POOL);
    pthread_cond_init(&p->called, NULL);
    pthread_cond_init(&p->ended, NULL);
    p->last = &p->first;
    while (p->n < threads && p->n < MOST_THREADS && gs_threads_start("gs-copy", &p->thread[p->n], copy_jobs, p))
        p->n++;
    if (!p->n) {
        gs_pool_stop(p);
        return NULL;
    }
    return p;
}

void gs_pool_stop(struct gs_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->called);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->n; i++)
        pthread_join(p->thread[i], NULL);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void gs_pool_submit(struct gs_pool *p, struct gs_copy_job *job)
{
    cut(p, job);
    job->next = NULL;
    GS_LOCKED(&p->lock);
    *p->last = job;
    p->last = &job->next;
    pthread_cond_broadcast(&p->called);
}

void gs_pool_wait(struct gs_pool *p, struct gs_copy_job *job)
{
    GS_LOCKED(&p->lock);
    while (job->taken < job->cut.n)
        copy_share(p, job);
    while (job->left)
        pthread_cond_wait(&p->ended, &p->lock);
}
