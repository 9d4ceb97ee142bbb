/* SPDX-License-Identifier: MIT */
/* The way of a transfer with the host's memory, for all combinations of facts: what must never be chosen, and who gets
 * the driver's own call. */
#include "shim/staging/staging.h"

#include <stdbool.h>
#include <stdio.h>

static int failures;

static void check(bool right, unsigned facts, const char *rule)
{
    if (right)
        return;
    printf("FAILED: facts %#x: %s\n", facts, rule);
    failures++;
}

int main(void)
{
    bool taken[GS_HOST_WAYS] = {false};
    for (unsigned f = 0; f < 1u << GS_FACTS; f++) {
        const enum gs_host_way way = gs_host_way(f);
        const bool call = way == GS_BY_CALL, calls = way == GS_BY_CALLS;
        const bool staged = f & GS_FACT_RING;
        taken[way] = true;
        if (!(f & GS_FACT_FOUND)) {
            const bool direct = f & GS_FACT_DIRECT && !(f & GS_FACT_NEW);
            check(way == GS_AS_IT_IS || way == GS_AT_ONCE || way == GS_LOOK, f, "the others know where the bytes lie");
            check(way == GS_LOOK || direct, f,
                  "what the ring may carry, or is written for the first time, is looked at");
            check(way != GS_AS_IT_IS || !(f & GS_FACT_UNITS), f, "under a daemon nothing goes as it is");
            check(way != GS_AT_ONCE || f & GS_FACT_SOLE, f, "who is not alone waits for units");
            check(way != GS_LOOK || !direct || (f & GS_FACT_UNITS && !(f & GS_FACT_SOLE)), f, "few bytes needn't wait");
            continue;
        }
        check((way == GS_BY_RING) == !!(f & GS_FACT_RING), f, "by the ring where it is there, else never");
        check(!(call || calls) || !(f & GS_FACT_UNITS), f, "a daemon's units don't go by calls that block");
        check(!call || !(f & GS_FACT_AWAY), f, "the driver's call knows of home alone");
        check(!calls || (f & GS_FACT_BLOCKS && f & GS_FACT_FEW && !(f & GS_FACT_WRITES)), f,
              "in turn go blocking reads of few stretches");
        if (!staged && !(f & (GS_FACT_UNITS | GS_FACT_AWAY)))
            check(call == (f & GS_FACT_BLOCKS || !(f & GS_FACT_WRITES)), f,
                  "at home a read is the driver's call, and a write that blocks");
    }
    for (unsigned i = 0; i < GS_HOST_WAYS; i++)
        check(taken[i], i, "each way is taken");
    return failures != 0;
}
