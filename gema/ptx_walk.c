/* SPDX-License-Identifier: MIT */
/* Walks one path through a kernel: loops as often as told, other predicated branches as told. */
#include "gema/ptx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct walker {
    const struct gs_ptx_kernel *k;
    const struct gs_ptx_walk_options *o;
    const char *path;
    uint64_t *left; /* per loop option: how often its body is still to be repeated; 0 outside the loop */
    struct gs_ptx_trace *trace;
    char *why;
    size_t why_size;
};

static int emit(struct walker *w, uint32_t i)
{
    struct gs_ptx_trace *t = w->trace;
    const char *op = w->k->v[i].opcode;
    unsigned count = 1;
    for (size_t e = 0; e < w->o->n_expand; e++) {
        size_t n = strlen(w->o->expand[e].opcode);
        if (strncmp(op, w->o->expand[e].opcode, n) == 0 && (op[n] == '.' || !op[n]))
            count = w->o->expand[e].count;
    }
    if (count > GS_PTX_MAX_TRACE - t->n) {
        snprintf(w->why, w->why_size, "the path is longer than %d instructions", GS_PTX_MAX_TRACE);
        return -EINVAL;
    }
    if (t->n + count > t->room) {
        size_t room = 2 * (t->n + count) + 64;
        uint32_t *v = realloc(t->v, room * sizeof(*v));
        if (!v)
            return -ENOMEM;
        t->v = v;
        t->room = room;
    }
    while (count--)
        t->v[t->n++] = i;
    return 0;
}

/* The loop option for a branch back, or n_loops. */
static size_t loop_of(const struct walker *w, const struct gs_ptx_instruction *in)
{
    size_t i = 0;
    while (i < w->o->n_loops && strcmp(w->o->loop[i].label, w->k->name[in->label]) != 0)
        i++;
    return i;
}

/* 1 taken, 0 not, or an error. */
static int take_back(struct walker *w, const struct gs_ptx_instruction *in)
{
    size_t l = loop_of(w, in);
    if (l == w->o->n_loops) {
        snprintf(w->why, w->why_size, "line %u: there is no bound for the loop at %s; give one with --loop %s=N",
                 in->line, w->k->name[in->label], w->k->name[in->label]);
        return -EINVAL;
    }
    if (w->left[l] == 0)
        w->left[l] = w->o->loop[l].times;
    return --w->left[l] ? 1 : 0;
}

static int take_told(struct walker *w, const struct gs_ptx_instruction *in)
{
    char c = w->path ? *w->path : '\0';
    if (c == 't' || c == 'n') {
        w->path++;
        return c == 't';
    }
    snprintf(w->why, w->why_size, "line %u: it is not told whether '%s' is taken; add a t or an n to --path", in->line,
             in->opcode);
    return -EINVAL;
}

/* The next instruction after i, n at the end, or an error. */
static int64_t step(struct walker *w, size_t i)
{
    const struct gs_ptx_instruction *in = &w->k->v[i];
    int64_t next = (int64_t)i + 1, end = (int64_t)w->k->n;
    if (in->is_call) {
        snprintf(w->why, w->why_size, "line %u: '%s' leads where this can't follow; let the compiler inline it",
                 in->line, in->opcode);
        return -EINVAL;
    }
    if (in->class == GS_PTX_RETURN) {
        int taken = in->predicated ? take_told(w, in) : 1;
        return taken < 0 ? taken : taken ? end : next;
    }
    if (in->class != GS_PTX_BRANCH)
        return next;
    bool back = in->target <= (int64_t)i;
    /* An unconditional branch back repeats for ever unless a branch inside leaves the loop: count it all the same. */
    int taken = back ? take_back(w, in) : in->predicated ? take_told(w, in) : 1;
    if (taken == 0 && back && !in->predicated) {
        snprintf(w->why, w->why_size, "line %u: the loop at %s is left from inside: give it one turn more, and --path",
                 in->line, w->k->name[in->label]);
        return -EINVAL;
    }
    return taken < 0 ? taken : taken ? in->target : next;
}

/* A loop that the path has left is counted afresh when it is entered again. */
static void forget_left_loops(struct walker *w, int64_t at)
{
    for (size_t l = 0; l < w->o->n_loops; l++) {
        bool inside = false;
        for (size_t i = 0; i < w->k->n && w->left[l] && !inside; i++) {
            const struct gs_ptx_instruction *in = &w->k->v[i];
            bool closes = in->class == GS_PTX_BRANCH && in->target >= 0 && in->target <= (int64_t)i &&
                          strcmp(w->k->name[in->label], w->o->loop[l].label) == 0;
            inside = closes && at >= in->target && at <= (int64_t)i;
        }
        if (!inside)
            w->left[l] = 0;
    }
}

static int walk(struct walker *w)
{
    int64_t at = 0;
    while (at < (int64_t)w->k->n) {
        int rc = emit(w, (uint32_t)at);
        int64_t next = rc ? rc : step(w, (size_t)at);
        if (next < 0)
            return (int)next;
        if (next != at + 1)
            forget_left_loops(w, next);
        at = next;
    }
    if (w->path && *w->path) {
        snprintf(w->why, w->why_size, "the path given has %zu letters more than the kernel has branches",
                 strlen(w->path));
        return -EINVAL;
    }
    return 0;
}

static int check_loops(const struct walker *w)
{
    for (size_t l = 0; l < w->o->n_loops; l++) {
        bool used = false;
        for (size_t i = 0; i < w->k->n; i++)
            used = used || (w->k->v[i].class == GS_PTX_BRANCH && w->k->v[i].target <= (int64_t)i &&
                            loop_of(w, &w->k->v[i]) == l);
        if (!used) {
            snprintf(w->why, w->why_size, "no branch leads back to a label '%.60s'", w->o->loop[l].label);
            return -EINVAL;
        }
    }
    return 0;
}

int gs_ptx_walk(const struct gs_ptx_kernel *k, const struct gs_ptx_walk_options *options, struct gs_ptx_trace *trace,
                char *why, size_t why_size)
{
    struct gs_ptx_walk_options none = {0};
    struct walker w = {.k = k, .o = options ? options : &none, .trace = trace, .why = why, .why_size = why_size};
    memset(trace, 0, sizeof(*trace));
    w.path = w.o->path;
    w.left = calloc(w.o->n_loops + 1, sizeof(*w.left));
    int rc = w.left ? check_loops(&w) : -ENOMEM;
    if (rc == 0)
        rc = walk(&w);
    free(w.left);
    if (rc) {
        free(trace->v);
        memset(trace, 0, sizeof(*trace));
    }
    return rc;
}

char *gs_ptx_instruction_string(const struct gs_ptx_kernel *k, const struct gs_ptx_trace *trace, bool special)
{
    char *s = malloc(trace->n + 1);
    if (!s)
        return NULL;
    for (size_t i = 0; i < trace->n; i++) {
        switch (k->v[trace->v[i]].class) {
        case GS_PTX_ARITHMETIC:
        case GS_PTX_BRANCH:
        case GS_PTX_RETURN:
            s[i] = 'C';
            break;
        case GS_PTX_SPECIAL:
            s[i] = special ? 'S' : 'C';
            break;
        case GS_PTX_BARRIER:
            s[i] = '|';
            break;
        default:
            s[i] = 'L';
        }
    }
    s[trace->n] = '\0';
    return s;
}
