/* SPDX-License-Identifier: MIT */
#include "shim/launch/verified.h"

#include <stdlib.h>

#include "shim/launch/verify.h"
#include "shim/launch/whole.h"
#include "shim/report/report.h"

/* The name of the first argument that leads to each use. */
static const char **name_uses(const struct gs_launching *l, const struct gs_plan *plan)
{
    const char **names = calloc(plan->n_uses + 1, sizeof *names);
    for (size_t u = 0; names && u < plan->n_uses; u++)
        for (cl_uint i = l->k->n_args; i-- > 0;)
            if (l->mems[i] && l->mems[i]->root == plan->uses[u].root)
                names[u] = l->summary->args[i].name;
    return names;
}

/* One device's run once more from the same bytes, and again while it doesn't show that what differs in the split does
 * so between one device's runs too. *again is left empty where nothing differs. */
static cl_int run_again(struct gs_launching *l, const struct gs_plan *plan, const struct gs_snapshot *before,
                        const struct gs_snapshot *single, const struct gs_snapshot *split, struct gs_snapshot *again)
{
    enum { MOST = 3 };
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < MOST && !err && gs_verify_differs(single, again->n ? again : NULL, split); i++) {
        struct gs_snapshot earlier = *again;
        *again = (struct gs_snapshot){0};
        err = gs_snapshot_restore(&l->cmd, plan, before);
        if (!err)
            err = gs_launch_single(l, NULL);
        if (!err)
            err = gs_snapshot_take(&l->cmd, plan, again);
        if (!err && earlier.n)
            gs_verify_join(again, single, &earlier);
        gs_snapshot_free(&earlier);
    }
    return err;
}

cl_int gs_launch_verified(struct gs_launching *l, struct gs_plan *plan, cl_event *event, bool *went)
{
    struct gs_snapshot before = {0}, split = {0}, single = {0}, again = {0};
    const char **names = name_uses(l, plan);
    const struct gs_label label = gs_label_purpose(GS_FOR_VERIFY);
    cl_int err = names ? gs_snapshot_take(&l->cmd, plan, &before) : CL_OUT_OF_HOST_MEMORY;
    gs_label_back(label);
    if (!err)
        err = gs_launch_parts(l, plan, NULL, went);
    gs_label_purpose(GS_FOR_VERIFY);
    if (!err)
        err = gs_snapshot_take(&l->cmd, plan, &split);
    if (!err)
        err = gs_snapshot_restore(&l->cmd, plan, &before);
    if (!err)
        err = gs_launch_single(l, event);
    if (!err)
        err = gs_snapshot_take(&l->cmd, plan, &single);
    if (!err) {
        const bool told = gs_verify_contents(&l->cmd, l->k->name, plan, names);
        err = run_again(l, plan, &before, &single, &split, &again);
        gs_report_verified(l->k->stats, gs_verify_compare(l->k->name, plan, names, &before, &single,
                                                          err || !again.n ? NULL : &again, &split) &&
                                            told);
    }
    gs_label_back(label);
    gs_snapshot_free(&before);
    gs_snapshot_free(&split);
    gs_snapshot_free(&single);
    gs_snapshot_free(&again);
    free(names);
    return err;
}
