/* SPDX-License-Identifier: MIT */
/* Pinned tasks with worst-case times: every server runs its most urgent job, at once. */
#include "gema/pinned.h"

/* A task's job: phase 2j is on the CPU before GPU segment j, 2j + 1 is that segment. Half of misc goes before it. */
struct job {
    bool active;
    int phase;
    int64_t left, release, next_release;
};

static int64_t time_of(const struct gs_pinned_task *t, int phase)
{
    const int j = phase / 2;
    if (phase % 2)
        return t->pure[j];
    return t->cpu[j] + (j < t->n ? t->misc[j] / 2 : 0) + (j ? t->misc[j - 1] - t->misc[j - 1] / 2 : 0);
}

/* Releases what is due. True: a job is released while the task's last one hasn't ended, which is a miss. */
static bool release_jobs(const struct gs_pinned_set *set, struct job *jobs, int64_t now, int64_t horizon)
{
    for (size_t i = 0; i < set->n; i++) {
        struct job *b = &jobs[i];
        if (set->tasks[i].best_effort || b->next_release > now || now >= horizon)
            continue;
        if (b->active)
            return true;
        *b = (struct job){true, 0, time_of(&set->tasks[i], 0), now, now + set->tasks[i].period_ns};
    }
    return false;
}

/* Whose job each server runs: the CPUs, and the GPU behind them. Returns the time until one of these phases ends. */
static int64_t dispatch(const struct gs_pinned_set *set, const struct job *jobs, const int *rank, size_t *running)
{
    int64_t step = INT64_MAX;
    for (int k = 0; k <= set->cpus; k++)
        running[k] = set->n;
    for (size_t i = 0; i < set->n; i++) {
        size_t *server = &running[jobs[i].phase % 2 ? set->cpus : set->tasks[i].cpu_id];
        const bool gpu = jobs[i].phase % 2;
        if (jobs[i].active && (*server == set->n || (gpu && rank && rank[i] < rank[*server])))
            *server = i;
    }
    for (int k = 0; k <= set->cpus; k++)
        if (running[k] < set->n && jobs[running[k]].left < step)
            step = jobs[running[k]].left;
    return step;
}

bool gs_pinned_misses(const struct gs_pinned_set *set, const int64_t *offsets, int64_t horizon, const int *rank,
                      int64_t *response)
{
    struct job jobs[GS_PINNED_MAX_TASKS] = {0};
    size_t running[GS_PINNED_MAX_CPUS + 1];
    for (size_t i = 0; i < set->n; i++)
        jobs[i].next_release = offsets[i];
    for (int64_t now = 0; now < horizon;) {
        if (release_jobs(set, jobs, now, horizon))
            return true;
        int64_t step = dispatch(set, jobs, rank, running);
        for (size_t i = 0; i < set->n; i++)
            if (!set->tasks[i].best_effort && jobs[i].next_release - now < step)
                step = jobs[i].next_release - now;
        if (step == INT64_MAX)
            return false;
        now += step;
        for (int k = 0; k <= set->cpus; k++) {
            struct job *b = running[k] < set->n ? &jobs[running[k]] : NULL;
            if (!b || (b->left -= step))
                continue;
            const struct gs_pinned_task *t = &set->tasks[running[k]];
            b->active = ++b->phase <= 2 * t->n;
            b->left = b->active ? time_of(t, b->phase) : 0;
            if (b->active)
                continue;
            if (response && now - b->release > response[running[k]])
                response[running[k]] = now - b->release;
            if (now - b->release > t->period_ns)
                return true;
        }
    }
    return false;
}
