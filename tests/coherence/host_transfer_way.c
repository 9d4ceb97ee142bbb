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
    for (unsigned f = 0; f < 1u << GS_FACTS; f++) {
        const enum gs_host_way way = gs_host_way(f);
        const bool call = way == GS_BY_CALL, calls = way == GS_BY_CALLS;
        const bool staged = f & GS_FACT_RING;
        if (way == GS_AS_IT_IS) {
            check(f & GS_FACT_DIRECT, f, "as it is goes what the ring has no use for");
            check(!(f & GS_FACT_UNITS) || f & GS_FACT_SOLE, f, "under a daemon who is alone goes as it is");
            check(!(f & GS_FACT_NEW), f, "bytes that are written for the first time are noted");
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
    return failures != 0;
}
