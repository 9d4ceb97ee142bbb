/* SPDX-License-Identifier: MIT */
#include "gema/priorities.h"

#include <errno.h>
#include <stdlib.h>

/* places[i] becomes the task's place, 1 for the lowest: that goes to any task that can have it, the least urgent so far
 * first, the next one likewise. `below` has the tasks that have theirs. False: there is one that none can have. */
static bool find_places(struct gs_analyzer *a, size_t n, const int *modes, bool *below, int *places)
{
    for (int place = 1; place <= (int)n; place++) {
        size_t i = n;
        while (i > 0 && (below[i - 1] || !gs_meets_above(a, i - 1, modes, below)))
            i--;
        if (!i)
            return false;
        below[i - 1] = true;
        places[i - 1] = place;
    }
    return true;
}

/* By the policy with the priorities that there are, or by others with the modes with which it comes nearest. */
static int find(struct gs_analyzer *a, const struct gs_model *m, enum gs_policy policy,
                const struct gs_assign_options *options, int *modes, bool *below, int *places)
{
    struct gs_assign_options nearest = *options;
    nearest.verdict_only = false;
    const int verdict = gs_assign(a, policy, &nearest, modes);
    for (size_t i = 0; i < m->n_tasks; i++)
        places[i] = (int)(m->n_tasks - i);
    if (verdict == 1 || verdict == -ENOMEM)
        return verdict;
    return find_places(a, m->n_tasks, modes, below, places) ? 1 : verdict;
}

int gs_find_priorities(struct gs_model *m, enum gs_analysis analysis, enum gs_policy policy,
                       const struct gs_assign_options *options)
{
    struct gs_analyzer *a = gs_analyzer_new(m, analysis);
    int *modes = calloc(m->n_tasks + 1, sizeof *modes), *places = calloc(m->n_tasks + 1, sizeof *places);
    bool *below = calloc(m->n_tasks + 1, sizeof *below);
    int rc = a && modes && places && below ? find(a, m, policy, options, modes, below, places) : -ENOMEM;
    gs_analyzer_free(a);
    for (size_t i = 0; i < m->n_tasks && rc == 1; i++) {
        m->tasks[i].priority = places[i];
        m->tasks[i].fixed_mode = modes[i];
    }
    if (rc == 1 && gs_model_finish(m))
        rc = -ENOMEM;
    free(modes);
    free(places);
    free(below);
    return rc;
}
