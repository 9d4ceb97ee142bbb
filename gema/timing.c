/* SPDX-License-Identifier: MIT */
/* The timing model's equations for an instruction mix. */
#include "gema/timing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A load's latency can be hidden behind other instructions; everything else keeps the warp for its issue time. */
static bool is_load(enum gs_ptx_class c)
{
    return c == GS_PTX_GLOBAL_LOAD || c == GS_PTX_ATOMIC;
}

static bool can_depend(enum gs_ptx_class c)
{
    return c == GS_PTX_ARITHMETIC || c == GS_PTX_SPECIAL || c == GS_PTX_SHARED_LOAD || c == GS_PTX_CONSTANT_LOAD;
}

double gs_timing_mix_cycles(const struct gs_timing_profile *p, const struct gs_timing_mix *mix, enum gs_timing_case c)
{
    double total = 0, loads = 0;
    for (int i = 0; i < GS_PTX_CLASSES; i++) {
        const struct gs_timing_cost *cost = &p->cost[i];
        double n = (double)mix->count[i], dependent = (double)mix->dependent[i];
        if (is_load((enum gs_ptx_class)i))
            loads += n * cost->latency[c]; /* equation 11 */
        else
            total += (n - dependent) * cost->issue + dependent * cost->latency[c]; /* equations 2 to 7 and 10 */
    }
    double hidden = c == GS_TIMING_AVERAGE ? mix->hidden : 0;
    return total + (loads > hidden ? loads - hidden : 0);
}

double gs_timing_mwp_one_warp(double memory_latency, uint64_t loads, double issue_cycles, uint64_t instructions)
{
    return memory_latency * (double)loads + issue_cycles * (double)instructions;
}

static bool set_count(struct gs_timing_mix *mix, const char *name, size_t n, uint64_t count)
{
    static const char suffix[] = "_dependent";
    size_t tail = sizeof(suffix) - 1;
    bool dependent = n > tail && strncmp(name + n - tail, suffix, tail) == 0;
    n -= dependent ? tail : 0;
    for (int i = 0; i < GS_PTX_CLASSES; i++) {
        const char *class = gs_timing_class_name((enum gs_ptx_class)i);
        if (strncmp(class, name, n) != 0 || class[n])
            continue;
        if (dependent && !can_depend((enum gs_ptx_class)i))
            return false;
        mix->count[i] += count;
        mix->dependent[i] += dependent ? count : 0;
        return true;
    }
    return false;
}

int gs_timing_mix_read(struct gs_timing_mix *mix, const char *text, char *why, size_t why_size)
{
    memset(mix, 0, sizeof(*mix));
    while (*text) {
        size_t n = strcspn(text, "=,");
        char *end = NULL;
        errno = 0;
        unsigned long long count =
            text[n] == '=' && text[n + 1] >= '0' && text[n + 1] <= '9' ? strtoull(text + n + 1, &end, 10) : 0;
        if (!end || (*end && *end != ',') || errno || count > UINT32_MAX || !set_count(mix, text, n, count)) {
            snprintf(why, why_size,
                     "the mix wants class=count, separated by commas, with a class such as arithmetic, "
                     "arithmetic_dependent or global_load, not '%.60s'",
                     text);
            return -EINVAL;
        }
        text = *end ? end + 1 : end;
    }
    return 0;
}

/* What is known of each register while the mix is counted. */
struct last_write {
    uint32_t op; /* index + 1 of the instruction that wrote it, 0 for none */
    double at;   /* cycles of issue gaps before the instruction after the writer */
};

/* The gap that op i leaves before the next one, by the formula: no load is waited for. */
static double gap_after(const struct gs_timing_program *p, const struct gs_timing_profile *profile, size_t i,
                        bool dependent)
{
    const struct gs_timing_cost *cost = &profile->cost[p->op[i].class];
    return dependent ? cost->latency[GS_TIMING_AVERAGE] : cost->issue;
}

/* Whether op i + 1 reads what op i writes. */
static bool next_depends(const struct gs_timing_program *p, size_t i)
{
    if (i + 1 >= p->n || !can_depend(p->op[i].class))
        return false;
    const struct gs_timing_op *a = &p->op[i], *b = &p->op[i + 1];
    for (unsigned w = 0; w < a->n_written; w++)
        for (unsigned r = 0; r < b->n_read; r++)
            if (p->operand[a->first + w] == p->operand[b->first + b->n_written + r])
                return true;
    return false;
}

/* Counts what has passed since the loads whose results op i reads, once for each load. */
static void count_hidden(const struct gs_timing_program *p, const struct gs_timing_profile *profile, size_t i,
                         struct last_write *written, double now, struct gs_timing_mix *mix)
{
    const struct gs_timing_op *o = &p->op[i];
    for (unsigned r = 0; r < o->n_read; r++) {
        struct last_write *w = &written[p->operand[o->first + o->n_written + r]];
        if (!w->op || !is_load(p->op[w->op - 1].class))
            continue;
        double latency = profile->cost[p->op[w->op - 1].class].latency[GS_TIMING_AVERAGE], passed = now - w->at;
        mix->hidden += passed < latency ? passed : latency;
        uint32_t load = w->op;
        const struct gs_timing_op *l = &p->op[load - 1];
        for (unsigned k = 0; k < l->n_written; k++) /* a vector load is one load */
            if (written[p->operand[l->first + k]].op == load)
                written[p->operand[l->first + k]].op = 0;
    }
}

/* Loads that nobody reads are hidden by all that follows. */
static void count_unread(const struct gs_timing_program *p, const struct gs_timing_profile *profile,
                         struct last_write *written, double now, struct gs_timing_mix *mix)
{
    for (size_t r = 0; r < p->n_registers; r++) {
        uint32_t load = written[r].op;
        if (!load || !is_load(p->op[load - 1].class) || p->operand[p->op[load - 1].first] != r)
            continue;
        double latency = profile->cost[p->op[load - 1].class].latency[GS_TIMING_AVERAGE], passed = now - written[r].at;
        mix->hidden += passed < latency ? passed : latency;
    }
}

int gs_timing_program_mix(const struct gs_timing_program *p, const struct gs_timing_profile *profile,
                          struct gs_timing_mix *mix)
{
    memset(mix, 0, sizeof(*mix));
    struct last_write *written = calloc(p->n_registers + 1, sizeof(*written));
    if (!written)
        return -ENOMEM;
    double now = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct gs_timing_op *o = &p->op[i];
        bool dependent = next_depends(p, i);
        count_hidden(p, profile, i, written, now, mix);
        mix->count[o->class]++;
        mix->dependent[o->class] += dependent;
        if (!is_load(o->class)) /* a load's own time is what is hidden, it hides nothing */
            now += gap_after(p, profile, i, dependent);
        for (unsigned w = 0; w < o->n_written; w++)
            written[p->operand[o->first + w]] = (struct last_write){(uint32_t)i + 1, now};
    }
    count_unread(p, profile, written, now, mix);
    free(written);
    return 0;
}
