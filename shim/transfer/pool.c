/* SPDX-License-Identifier: MIT */
#include "shim/transfer/pool.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shim/beside.h"
#include "shim/transfer/fresh.h"
#include "shim/transfer/past_cache.h"

enum { MOST_THREADS = 12 };

struct gs_pool {
    pthread_t thread[MOST_THREADS];
    unsigned n;
    pthread_mutex_t lock; /* all below, and the jobs' `done` */
    pthread_cond_t work, finished;
    struct gs_copy_job *first, **last;
    bool stopping;
};

static void copy(const struct gs_copy_job *job)
{
    const size_t *n = job->region;
    if (job->fresh && n[1] * n[2] == 1)
        gs_fresh_make(job->dst.at, n[0]);
    for (size_t z = 0; z < n[2]; z++) {
        for (size_t y = 0; y < n[1]; y++) {
            char *dst = job->dst.at + z * job->dst.slice + y * job->dst.row;
            const char *src = job->src.at + z * job->src.slice + y * job->src.row;
            if (job->streaming)
                gs_copy_past_cache(dst, src, n[0]);
            else
                memcpy(dst, src, n[0]);
        }
    }
}

static void *copy_jobs(void *arg)
{
    struct gs_pool *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->first && !p->stopping)
            pthread_cond_wait(&p->work, &p->lock);
        struct gs_copy_job *job = p->first;
        if (!job)
            break;
        p->first = job->next;
        if (!p->first)
            p->last = &p->first;
        pthread_mutex_unlock(&p->lock);
        copy(job);
        pthread_mutex_lock(&p->lock);
        job->done = true;
        pthread_cond_broadcast(&p->finished);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

struct gs_copy_job gs_pool_share(const struct gs_copy_job *all, unsigned i, unsigned n)
{
    enum { PAGE_BYTES = 4096 };
    const int d = all->region[2] > 1 ? 2 : all->region[1] > 1 ? 1 : 0;
    const size_t unit = d ? 1 : PAGE_BYTES, units = (all->region[d] + unit - 1) / unit,
                 each = (units + n - 1) / n * unit;
    const size_t begin = least_of(i * each, all->region[d]), end = least_of(begin + each, all->region[d]);
    struct gs_copy_job share = *all;
    share.region[d] = end - begin;
    if (begin == end)
        share.region[0] = 0;
    share.dst.at += begin * (d == 2 ? all->dst.slice : d ? all->dst.row : 1);
    share.src.at += begin * (d == 2 ? all->src.slice : d ? all->src.row : 1);
    return share;
}

struct gs_pool *gs_pool_start(unsigned threads)
{
    struct gs_pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->finished, NULL);
    p->last = &p->first;
    while (p->n < threads && p->n < MOST_THREADS && gs_beside_start(&p->thread[p->n], copy_jobs, p))
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
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->n; i++)
        pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->finished);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void gs_pool_submit(struct gs_pool *p, struct gs_copy_job *job)
{
    pthread_mutex_lock(&p->lock);
    job->done = false;
    job->next = NULL;
    *p->last = job;
    p->last = &job->next;
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

void gs_pool_wait(struct gs_pool *p, const struct gs_copy_job *job)
{
    pthread_mutex_lock(&p->lock);
    while (!job->done)
        pthread_cond_wait(&p->finished, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
