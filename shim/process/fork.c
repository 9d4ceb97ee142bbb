/* SPDX-License-Identifier: MIT */
#include "shim/process/fork.h"

#include <stdatomic.h>

static atomic_bool forked;

bool gs_forked(void)
{
    return atomic_load_explicit(&forked, memory_order_relaxed);
}

void gs_forked_begin(void)
{
    atomic_store(&forked, true);
}
