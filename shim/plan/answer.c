/* SPDX-License-Identifier: MIT */
#include "shim/plan/answer.h"

#include <stdlib.h>

#include "shim/plan/plan.h"
#include "shim/plan/prepare.h"
#include "shim/process/threads.h"
#include "shim/report/report.h"

void gs_answer_wanted(struct gs_kernel *k, bool null_local)
{
    if (null_local)
        atomic_store(&k->kind->left_null_local, true);
    atomic_store(&k->kind->left, true);
}

void gs_answer_give(struct gs_kernel *k)
{
    const char *reason;
    if (!gs_settings()->stats || !atomic_load(&k->kind->left))
        return;
    const struct gs_kernel_summary *s = gs_prepare(k, false, &reason);
    if (gs_threads_ends()) /* which may be why there is none */
        return;
    if (s)
        reason =
            gs_plan_never(s, k->program->relaxed, gs_settings()->allow_reorder, atomic_load(&k->kind->left_null_local));
    gs_report_answer(k->stats, reason);
}

void gs_answer_all(void)
{
    struct gs_object **all = gs_settings()->stats ? gs_hold_all(GS_KERNEL) : NULL;
    for (size_t i = 0; all && all[i]; i++) {
        gs_answer_give((struct gs_kernel *)all[i]);
        gs_drop(all[i]);
    }
    free(all);
}
