/* SPDX-License-Identifier: MIT */
#include "shim/staging/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/lock/rank.h"

#include "common/clock.h"
#include "shim/process/threads.h"
#include "shim/staging/prefault.h"
#include "shim/staging/nontemporal.h"

enum { MOST_THREADS = 12 };

/* A share is worth being handed out from so many bytes on (some 15 us); and pages are made huge ones at a time, by one
 * thread each. */
enum { LEAST_SHARE = 64 * 1024, FRESH_SHARE = 2 * 1024 * 1024 };

/* So long a thread looks for the next copy, or for the end of one, before it sleeps: to be woken takes some 50 us on a
 * virtual machine. Where there are few, others need their cores. */
enum { MOMENT_NS = 150 * 1000, ENOUGH_THREADS = 4 };

struct gs_pool {
    pthread_t thread[MOST_THREADS];
    unsigned n;
    uint64_t moment_ns;
    pthread_mutex_t lock;              /* all below, and what has been taken of the jobs. Held for a few loads */
    struct gs_copy_job *first, **last; /* those of which some shares haven't been taken */
    bool stopping;
    atomic_uint calls; /* goes up with each job; looked at without the lock as well */
    pthread_cond_t called, ended;
};

/* ---- waiting ---- */

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- jobs ---- */

/* Past the cache: nobody here reads it soon; and an H200's link takes bytes from the caches of other cores at 20 GB/s
 * instead of 50. */
static void copy(const struct gs_copy_job *job, unsigned i)
{
    const struct gs_share s = gs_pool_share(job, i, job->shares);
    const size_t *n = s.region;
    if (!n[0])
        return;
    if (job->fresh && n[1] * n[2] == 1)
        gs_prefault_make(s.dst.at, n[0]);
    for (size_t z = 0; z < n[2]; z++) {
        for (size_t y = 0; y < n[1]; y++) {
            char *dst = s.dst.at + z * s.dst.slice + y * s.dst.row;
            const char *src = s.src.at + z * s.src.slice + y * s.src.row;
            gs_copy_past_cache(dst, src, n[0]);
        }
    }
}

/* With the lock held, while shares of it are left. */
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

/* The job is its owner's again once nothing is left. */
static void done(struct gs_pool *p, struct gs_copy_job *job)
{
    if (atomic_fetch_sub(&job->left, 1) != 1)
        return;
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->ended);
    pthread_mutex_unlock(&p->lock);
}

/* A share of that job, or of the oldest. False: there is none left. */
static bool copy_some(struct gs_pool *p, struct gs_copy_job *job, bool *stopping)
{
    pthread_mutex_lock(&p->lock);
    job = job ? job : p->first;
    const bool any = job && job->taken < job->shares;
    const unsigned share = any ? take_share(p, job) : 0;
    *stopping = p->stopping;
    pthread_mutex_unlock(&p->lock);
    if (any) {
        copy(job, share);
        done(p, job);
    }
    return any;
}

/* For a moment: does the number change? */
static bool changes_soon(const struct gs_pool *p, const atomic_uint *number, unsigned from)
{
    enum { LOOKS = 32 };
    for (const uint64_t end = p->moment_ns ? gs_now_ns() + p->moment_ns : 0; end && gs_now_ns() < end;)
        for (int i = 0; i < LOOKS; i++) {
            if (atomic_load(number) != from)
                return true;
            pause_cpu();
        }
    return false;
}

static void *copy_jobs(void *arg)
{
    struct gs_pool *p = arg;
    bool stopping = false;
    while (!stopping) {
        const unsigned calls = atomic_load(&p->calls);
        if (copy_some(p, NULL, &stopping) || stopping || changes_soon(p, &p->calls, calls))
            continue;
        pthread_mutex_lock(&p->lock);
        while (p->calls == calls)
            pthread_cond_wait(&p->called, &p->lock);
        pthread_mutex_unlock(&p->lock);
    }
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

/* One for each thread, and for who waits. */
static unsigned shares_of(const struct gs_pool *p, const struct gs_copy_job *job)
{
    const size_t bytes = job->region[0] * job->region[1] * job->region[2];
    const size_t shares =
        job->fresh ? (bytes + FRESH_SHARE - 1) / FRESH_SHARE : gs_least(bytes / LEAST_SHARE, p->n + 1);
    return shares ? (unsigned)shares : 1;
}

/* ---- the pool ---- */

/* Wakes the threads. With the lock held. */
static void call(struct gs_pool *p)
{
    atomic_fetch_add(&p->calls, 1);
    pthread_cond_broadcast(&p->called);
}

struct gs_pool *gs_pool_start(unsigned threads)
{
    struct gs_pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP /* who finds it taken looks again before he sleeps */
    p->lock = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
#else
    pthread_mutex_init(&p->lock, NULL);
#endif
    gs_rank_lock(&p->lock, GS_RANK_COPY_POOL);
    pthread_cond_init(&p->called, NULL);
    pthread_cond_init(&p->ended, NULL);
    p->last = &p->first;
    p->moment_ns = threads >= ENOUGH_THREADS ? MOMENT_NS : 0;
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
    call(p);
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
    atomic_store(&job->left, job->shares);
    pthread_mutex_lock(&p->lock);
    *p->last = job;
    p->last = &job->next;
    call(p);
    pthread_mutex_unlock(&p->lock);
}

void gs_pool_wait(struct gs_pool *p, struct gs_copy_job *job)
{
    bool stopping;
    unsigned left;
    while ((left = atomic_load(&job->left)) && (copy_some(p, job, &stopping) || changes_soon(p, &job->left, left)))
        ;
    if (!left)
        return;
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&job->left))
        pthread_cond_wait(&p->ended, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void gs_pool_wake(struct gs_pool *p)
{
    pthread_mutex_lock(&p->lock);
    call(p);
    pthread_mutex_unlock(&p->lock);
}
