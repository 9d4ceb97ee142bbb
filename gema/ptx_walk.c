/* SPDX-License-Identifier: MIT */
/* Walks one path through a kernel: loops as often as told, other predicated branches as told. */
#include "gema/ptx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A loop of the options: the instructions from its label to the last branch back to it, and where the walk is in it. */
struct loop {
    int64_t begin, last;
    int64_t way_out; /* the only predicated branch that leaves a loop which is left from inside alone, or -1 */
    uint64_t turns;  /* how often it has been at the label since it came in; 0: it is outside */
    bool entered;
};

struct walker {
    const struct gs_ptx_kernel *k;
    const struct gs_ptx_walk_options *o;
    const char *path;
    struct loop *loop; /* one for each loop option */
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
    return w->loop[l].turns < w->o->loop[l].times ? 1 : 0;
}

static int take_told(struct walker *w, const struct gs_ptx_instruction *in)
{
    for (size_t l = 0; l < w->o->n_loops; l++)
        if (w->loop[l].way_out == in - w->k->v)
            return w->loop[l].turns == w->o->loop[l].times;
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

static bool is_inside(const struct loop *l, int64_t at)
{
    return at >= l->begin && at <= l->last;
}

/* The walk goes on at `at`: counts the turn of a loop that begins there. A loop that it leaves must have had its turns,
 * and is counted afresh when it is entered again. */
static int count_turns(struct walker *w, int64_t from, int64_t at)
{
    for (size_t i = 0; i < w->o->n_loops; i++) {
        struct loop *l = &w->loop[i];
        const struct gs_ptx_loop *told = &w->o->loop[i];
        if (!is_inside(l, at) && l->turns && l->turns != told->times) {
            snprintf(w->why, w->why_size,
                     "line %u: the path leaves the loop at %.60s in turn %llu, and --loop says that it has %llu",
                     w->k->v[from].line, told->label, (unsigned long long)l->turns, (unsigned long long)told->times);
            return -EINVAL;
        }
        if (!is_inside(l, at))
            l->turns = 0;
        l->turns += at == l->begin;
        l->entered = l->entered || l->turns;
    }
    return 0;
}

static int check_entered(struct walker *w)
{
    for (size_t i = 0; i < w->o->n_loops; i++)
        if (!w->loop[i].entered) {
            snprintf(w->why, w->why_size, "the path doesn't come to the loop at %.60s, of which --loop says turns",
                     w->o->loop[i].label);
            return -EINVAL;
        }
    return 0;
}

static int walk(struct walker *w)
{
    int64_t at = 0;
    if (count_turns(w, 0, 0))
        return -EINVAL;
    while (at < (int64_t)w->k->n) {
        int rc = emit(w, (uint32_t)at);
        int64_t next = rc ? rc : step(w, (size_t)at);
        if (next < 0)
            return (int)next;
        if (count_turns(w, at, next))
            return -EINVAL;
        at = next;
    }
    if (w->path && *w->path) {
        snprintf(w->why, w->why_size, "the path given has %zu letter%s more than the kernel has branches",
                 strlen(w->path), w->path[1] ? "s" : "");
        return -EINVAL;
    }
    return check_entered(w);
}

static bool leads_back(const struct walker *w, size_t i, size_t l)
{
    const struct gs_ptx_instruction *in = &w->k->v[i];
    return in->class == GS_PTX_BRANCH && in->target >= 0 && in->target <= (int64_t)i && loop_of(w, in) == l;
}

/* A loop whose branches back are all unconditional is left from inside. Where one branch alone does that, it is taken
 * in the last turn, and need not be told. */
static void find_way_out(struct walker *w, size_t l)
{
    struct loop *loop = &w->loop[l];
    unsigned ways = 0;
    loop->way_out = -1;
    for (int64_t i = loop->begin; i <= loop->last; i++) {
        const struct gs_ptx_instruction *in = &w->k->v[i];
        const bool leaves = in->class == GS_PTX_RETURN || (in->class == GS_PTX_BRANCH && !is_inside(loop, in->target));
        if (leads_back(w, (size_t)i, l) && in->predicated)
            ways = 2;
        ways += leaves;
        if (leaves && in->predicated)
            loop->way_out = i;
    }
    if (ways != 1)
        loop->way_out = -1;
}

static int find_loops(struct walker *w)
{
    for (size_t l = 0; l < w->o->n_loops; l++) {
        bool used = false;
        for (size_t i = 0; i < w->k->n; i++)
            if (leads_back(w, i, l)) {
                w->loop[l].begin = w->k->v[i].target;
                w->loop[l].last = (int64_t)i;
                used = true;
            }
        if (!used) {
            snprintf(w->why, w->why_size, "no branch leads back to a label '%.60s'", w->o->loop[l].label);
            return -EINVAL;
        }
        find_way_out(w, l);
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
    w.loop = calloc(w.o->n_loops + 1, sizeof(*w.loop));
    int rc = w.loop ? find_loops(&w) : -ENOMEM;
    if (rc == 0)
        rc = walk(&w);
    free(w.loop);
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
