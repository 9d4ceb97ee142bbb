/* SPDX-License-Identifier: MIT */
#include "gema/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool grow(void **v, size_t n, size_t *max, size_t size)
{
    if (n < *max)
        return true;
    size_t more = *max ? *max * 2 : 64;
    void *p = realloc(*v, more * size);
    if (!p)
        return false;
    *v = p;
    *max = more;
    return true;
}

/* Room for one more of either kind? */
static bool has_room(struct gs_timeline *t, int64_t now)
{
    if (t->n_slices + t->n_jobs < t->most)
        return true;
    if (!t->full)
        t->seen = now;
    t->full = t->stop = true;
    return false;
}

static bool continues(const struct gs_sim_slice *a, const struct gs_sim_slice *b)
{
    return a->end == b->begin && a->task == b->task && a->job == b->job && a->segment == b->segment &&
           a->piece == b->piece;
}

static void keep_slice(void *context, const struct gs_sim_slice *s)
{
    struct gs_timeline *t = context;
    size_t *last = &t->last[s->resource][s->server];
    if (t->join && *last && continues(&t->slices[*last - 1], s)) {
        t->slices[*last - 1].end = s->end;
        return;
    }
    if (!has_room(t, s->begin))
        return;
    if (grow((void **)&t->slices, t->n_slices, &t->max_slices, sizeof *t->slices)) {
        t->slices[t->n_slices++] = *s;
        *last = t->n_slices;
    } else {
        t->failed = t->stop = true;
    }
}

static void keep_job(void *context, const struct gs_sim_job *j)
{
    struct gs_timeline *t = context;
    if (!has_room(t, j->end))
        return;
    if (grow((void **)&t->jobs, t->n_jobs, &t->max_jobs, sizeof *t->jobs))
        t->jobs[t->n_jobs++] = *j;
    else
        t->failed = t->stop = true;
}

/* A task's jobs end in the order of their releases: the lane that is free first is that of its oldest job in one. */
static bool find_lanes(struct gs_timeline *t)
{
    const size_t n = t->model->n_tasks;
    size_t *oldest = calloc(n + 1, sizeof *oldest);
    t->lane = calloc(t->n_jobs + 1, sizeof *t->lane);
    t->lanes = calloc(n + 1, sizeof *t->lanes);
    const bool ok = oldest && t->lane && t->lanes;
    for (size_t i = 0; ok && i < t->n_jobs; i++) {
        const size_t task = t->jobs[i].task;
        size_t *o = &oldest[task];
        while (t->jobs[*o].task != task)
            ++*o;
        const bool is_free = *o < i && t->jobs[*o].end <= t->jobs[i].release;
        t->lane[i] = is_free ? t->lane[(*o)++] : t->lanes[task]++;
    }
    free(oldest);
    return ok;
}

int gs_timeline_run(struct gs_timeline *t, const struct gs_model *m, const struct gs_timeline_setup *setup)
{
    *t = (struct gs_timeline){.model = m, .horizon = setup->horizon, .most = setup->most, .join = setup->join};
    struct gs_sim_setup sim = {.modes = setup->modes,
                               .offsets = setup->offsets,
                               .horizon = setup->horizon,
                               .context = t,
                               .ran = keep_slice,
                               .ended = keep_job,
                               .stop = &t->stop};
    struct gs_sim *s = gs_sim_new(m);
    const bool ok = s && gs_sim_run(s, &sim) && !t->failed && find_lanes(t);
    gs_sim_free(s);
    return !ok ? -ENOMEM : t->full ? -EFBIG : 0;
}

void gs_timeline_free(struct gs_timeline *t)
{
    free(t->slices);
    free(t->jobs);
    free(t->lane);
    free(t->lanes);
    *t = (struct gs_timeline){0};
}

bool gs_timeline_missed(const struct gs_timeline *t, const struct gs_sim_job *j)
{
    return j->end - j->release > t->model->tasks[j->task].deadline_ns;
}

/* A time in microseconds with all its nanoseconds. */
static void print_us(FILE *out, int64_t ns)
{
    fprintf(out, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
}

static void name_track(FILE *out, int pid, int tid, const char *name, int number, const char *sep)
{
    fprintf(out, "%s{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s", sep, pid,
            tid, name);
    if (number >= 0)
        fprintf(out, " %d", number);
    fputs("\"}}", out);
}

int gs_timeline_write_trace(const struct gs_timeline *t, FILE *out)
{
    enum { SERVERS = 1, TASKS = 2 };
    const struct gs_model *m = t->model;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"servers\"}},\n"
          "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"args\":{\"name\":\"tasks\"}}",
          out);
    for (int r = 0; r < GS_RESOURCES; r++)
        for (int k = 0; k < m->servers[r]; k++)
            name_track(out, SERVERS, r * GS_CONFIG_MAX_SERVERS + k, gs_resource_names[r], k, ",\n");
    for (size_t i = 0; i < m->n_tasks; i++)
        for (int k = 0; k < (t->lanes[i] ? t->lanes[i] : 1); k++)
            name_track(out, TASKS, k * GS_CONFIG_MAX_TASKS + (int)i, m->tasks[i].name, k ? k + 1 : -1, ",\n");
    for (size_t i = 0; i < t->n_slices; i++) {
        const struct gs_sim_slice *s = &t->slices[i];
        fprintf(out, ",\n{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":", m->tasks[s->task].name, SERVERS,
                (int)s->resource * GS_CONFIG_MAX_SERVERS + s->server);
        print_us(out, s->begin);
        fputs(",\"dur\":", out);
        print_us(out, s->end - s->begin);
        fprintf(out, ",\"args\":{\"job\":%" PRIu64 ",\"segment\":%zu,\"piece\":%d}}", s->job, s->segment + 1, s->piece);
    }
    for (size_t i = 0; i < t->n_jobs; i++) {
        const struct gs_sim_job *j = &t->jobs[i];
        fprintf(out, ",\n{\"ph\":\"X\",\"name\":\"job %" PRIu64 "%s\",\"pid\":%d,\"tid\":%zu,\"ts\":", j->job,
                gs_timeline_missed(t, j) ? " misses its deadline" : "", TASKS,
                (size_t)t->lane[i] * GS_CONFIG_MAX_TASKS + j->task);
        print_us(out, j->release);
        fputs(",\"dur\":", out);
        print_us(out, j->end - j->release);
        fprintf(out, ",\"args\":{\"response_ns\":%" PRId64 ",\"deadline_ns\":%" PRId64 "}}", j->end - j->release,
                m->tasks[j->task].deadline_ns);
    }
    fputs("\n]}\n", out);
    return fflush(out) != 0 ? -errno : ferror(out) ? -EIO : 0;
}
