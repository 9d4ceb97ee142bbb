/* SPDX-License-Identifier: MIT */
#include "shim/choose/near.h"

#include "shim/choose/choice_costs.h"

static const double most_ratio = 2;
static const double close = 1.2; /* so near that a measurement would tell little more */

double gs_near_ratio(const uint64_t a[6], const uint64_t b[6])
{
    double ratio = 1;
    for (int d = 0; d < 3; d++) {
        if (a[3 + d] != b[3 + d] || !b[d])
            return 0;
        ratio *= (double)a[d] / (double)b[d];
    }
    return ratio <= most_ratio && ratio * most_ratio >= 1 ? ratio : 0;
}

static double distance(double ratio)
{
    return ratio < 1 ? 1 / ratio : ratio;
}

bool gs_near_is_nearer(double ratio, double than)
{
    return ratio > 0 && (than <= 0 || distance(ratio) < distance(than));
}

/* One that was split is known by its parts, or by another size. */
static bool is_measured(const struct gs_history *of)
{
    return gs_choice_single_ns(of) > 0 && (of->single.n || of->split.n);
}

bool gs_near_tells(const struct gs_history *of)
{
    return is_measured(of) || of->bound_ns;
}

void gs_near_count(struct gs_near_others *others, const struct gs_history *of)
{
    const uint64_t launches = of->near.launches + of->launches;
    others->launches = launches > others->launches ? launches : others->launches;
    others->split |= of->split_before;
}

void gs_near_learn(struct gs_history *h, const struct gs_history *of, const struct gs_machine *m, unsigned n,
                   double ratio, const struct gs_near_others *others)
{
    const double single = gs_choice_single_ns(of), share = 1.0 / n;
    const double bound = (double)of->bound_ns * gs_max(1, ratio); /* what takes no longer than that */
    h->near = (struct gs_near){.close = distance(ratio) <= close};
    if (is_measured(of))
        h->near.single_ns = single * ratio;
    else if (bound < gs_least_worth_ns(m, n)) /* a bound says enough of short ones alone */
        h->near.single_ns = bound;
    if (h->near.single_ns > 0) /* no other will be looked for */
        h->near.launches = others->launches;
    if (!is_measured(of))
        return;
    h->split_before |= others->split;
    if (of->failures > h->failures)
        gs_choice_remember_failures(h, of->failures);
    /* One that is measured says enough, as these sizes may be launched once each; what lies around the parts doesn't
     * shrink with them. */
    const double split = of->split.n ? (double)gs_measured_best(&of->split) : of->near.split_ns;
    if (split > 0)
        h->near.split_ns = gs_max(split - (single - h->near.single_ns) * share, h->near.single_ns * share);
}
