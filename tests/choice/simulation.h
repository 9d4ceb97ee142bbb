/* SPDX-License-Identifier: MIT */
/* Simulated applications for tests of auto mode's choice: clock, kernels, transfers and where the data lies are made
 * up, and what launches really take is not what the prediction believes. */
#ifndef GS_TESTS_CHOICE_SIMULATION_H
#define GS_TESTS_CHOICE_SIMULATION_H

#include "shim/choose/choice.h"
#include "tests/random.h"

/* One buffer, all at home or spread over two devices by halves. */
struct world {
    struct gs_machine believed, real;
    struct gs_budget budget;
    double now, plain; /* what has been spent, and what the plain run would have */
    double noise;      /* of times, upwards */
    uint64_t bytes;    /* of the buffer */
    double shared;     /* gs_forecast.shared */
    double prepare_ns; /* to be paid before the first plan */
    bool away;
};

struct kernel {
    struct gs_history h;
    double single_ns;
    double part_ns; /* of each half */
    uint64_t halo;  /* bytes that a split fetches even where the data lies spread already */
    double warm_ns; /* how much longer its second split takes; each further one about half of that */
    double plan_ns; /* what the host takes to plan a launch */
    bool never;     /* it can't be split */
    bool ample;     /* its parts are expected to take their share */
    unsigned splits, switches;
    bool last;
};

static const struct gs_machine h200 = {.link = {{4e4, 0.05}, {4e4, 0.004}}, .split_ns = 8e4, .first_ns = 15e5};

static inline void begin(struct world *w, uint64_t bytes)
{
    *w = (struct world){.believed = h200, .real = h200, .bytes = bytes};
}

static inline struct kernel kernel_of(double single_ns, double part_ns, uint64_t halo)
{
    struct kernel k = {.single_ns = single_ns, .part_ns = part_ns, .halo = halo};
    gs_history_init(&k.h);
    return k;
}

static inline double noisy(const struct world *w, double ns)
{
    return ns * (1 + w->noise * random_part());
}

static inline double run_single(struct world *w, struct kernel *k, struct gs_move gather)
{
    const double took = noisy(w, k->single_ns);
    if (gs_choice_wants_single(&k->h, &w->believed, 2, true)) {
        k->h.asked++;
        gs_choice_learn_single(&k->h, (uint64_t)took);
    }
    w->away = false;
    return took + gs_move_ns(&w->real, GS_LINK_HOST, gather);
}

static inline double run_split(struct world *w, struct kernel *k, const struct gs_forecast *o, double risk_ns)
{
    const uint64_t parts[2] = {(uint64_t)noisy(w, k->part_ns), (uint64_t)noisy(w, k->part_ns)};
    const double longest = (double)(parts[0] > parts[1] ? parts[0] : parts[1]);
    double took = longest + w->real.split_ns + gs_move_ns(&w->real, GS_LINK_HOST, o->scatter);
    took += k->splits ? k->warm_ns / (double)(1 << (k->splits < 30 ? k->splits - 1 : 30)) : w->real.first_ns;
    k->splits++;
    const bool asked = gs_choice_wants_split(&k->h);
    k->h.asked_split += asked;
    if (asked)
        gs_choice_learn_split(&k->h, &w->believed, &w->budget, o,
                              &(struct gs_split_times){(uint64_t)took, parts, gs_choice_single_ns(&k->h), risk_ns});
    w->away = true;
    return took;
}

/* One launch of a kernel that works on all of the buffer. */
static inline bool launch(struct world *w, struct kernel *k)
{
    struct gs_forecast o = {
        .n = 2, .link = GS_LINK_HOST, .largest = 0.5, .ample = k->ample, .plan_ns = k->plan_ns, .shared = w->shared};
    const uint64_t half = w->bytes / 2, scatter = w->away ? k->halo : half + k->halo;
    double risk_ns = 0;
    bool split = false;
    if (w->away)
        o.gather = (struct gs_move){half, 1, 1};
    else
        o.leave = (struct gs_move){half, 1, 1};
    o.scatter = (struct gs_move){scatter, scatter ? 1 : 0, scatter ? 1 : 0};
    if (!k->never && (w->away || gs_choice_may_plan(&k->h, &w->believed, 2, w->prepare_ns))) {
        w->now += k->plan_ns + w->prepare_ns;
        w->prepare_ns = 0;
        split = gs_choose(&k->h, &w->believed, &o, &w->budget, (uint64_t)w->now, &risk_ns);
    }
    w->now += split ? run_split(w, k, &o, risk_ns) : run_single(w, k, o.gather);
    w->plain += k->single_ns;
    k->switches += split != k->last;
    k->last = split;
    return split;
}

#endif
