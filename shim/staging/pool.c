/* SPDX-License-Identifier: MIT */
#include "shim/staging/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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
        madvise(begin, n, MADV_POPULATE_WRITE); /* Linux before 5.14 refuses it */
    errno = before;
}

/* ---- jobs ---- */

/* Past the cache: nobody reads the bytes soon, and an H200's link reads other cores' caches at 20 GB/s, not 50. */
static void copy(const struct gs_copy_job *job, unsigned i)
{
    const struct gs_share s = gs_pool_share(job, i, job->shares);
    const size_t *n = s.region;
    if (!n[0])
        return;
    if (job->fresh && n[1] * n[2] == 1)
        gs_prefault_make(s.dst.at, n[0]);
    if (s.src.at == s.dst.at)
        return;
    for (size_t z = 0; z < n[2]; z++) {
        for (size_t y = 0; y < n[1]; y++) {
            char *dst = s.dst.at + z * s.dst.slice + y * s.dst.row;
            const char *src = s.src.at + z * s.src.slice + y * s.src.row;
            gs_copy_past_cache(dst, src, n[0]);
        }
    }
}

/* With the lock held. The job must have shares left. */
static unsigned take_share(struct gs_pool *p, struct gs_copy_job *job)
{
    const unsigned share = job->taken++;
    struct gs_copy_job **at = &p->first;
    if (job->taken < job->shares)
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
    pthread_mutex_lock(&p->lock);
    while (!p->stopping)
        if (p->first)
            copy_share(p, p->first);
        else
            pthread_cond_wait(&p->called, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct gs_share gs_pool_share(const struct gs_copy_job *all, unsigned i, unsigned n)
{
    enum { PAGE_BYTES = 4096 };
    const int d = all->region[2] > 1 ? 2 : all->region[1] > 1 ? 1 : 0;
    const size_t unit = d ? 1 : PAGE_BYTES, units = (all->region[d] + unit - 1) / unit,
                 each = (units + n - 1) / n * unit;
    const size_t begin = gs_least(i * each, all->region[d]), end = gs_least(begin + each, all->region[d]);
    struct gs_share share = {all->dst, all->src, {all->region[0], all->region[1], all->region[2]}};
    share.region[d] = end - begin;
    if (begin == end)
        share.region[0] = 0;
    share.dst.at += begin * (d == 2 ? all->dst.slice : d ? all->dst.row : 1);
    share.src.at += begin * (d == 2 ? all->src.slice : d ? all->src.row : 1);
    return share;
}

/* A share for each thread and for the thread that waits; in fresh memory one for each huge page. */
static unsigned shares_of(const struct gs_pool *p, const struct gs_copy_job *job)
{
    const size_t bytes = job->region[0] * job->region[1] * job->region[2];
    const size_t shares =
        job->fresh ? (bytes + FRESH_SHARE - 1) / FRESH_SHARE : gs_least(bytes / LEAST_SHARE, p->n + 1);
    return shares ? (unsigned)shares : 1;
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
    job->shares = shares_of(p, job);
    job->taken = 0;
    job->next = NULL;
    job->left = job->shares;
    pthread_mutex_lock(&p->lock);
    *p->last = job;
    p->last = &job->next;
    pthread_cond_broadcast(&p->called);
    pthread_mutex_unlock(&p->lock);
}

void gs_pool_wait(struct gs_pool *p, struct gs_copy_job *job)
{
    pthread_mutex_lock(&p->lock);
    while (job->taken < job->shares)
        copy_share(p, job);
    while (job->left)
        pthread_cond_wait(&p->ended, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
