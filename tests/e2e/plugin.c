/* SPDX-License-Identifier: MIT */
/* A library that registers two handlers of exit() each time it is loaded: they run as it is unloaded. */
#include <stdlib.h>

static int *order;

static void one(void)
{
    *order = *order * 10 + 1;
}

static void two(void)
{
    *order = *order * 10 + 2;
}

__attribute__((visibility("default"))) int begin(int *ran);
int begin(int *ran)
{
    order = ran;
    return atexit(one) || atexit(two);
}
