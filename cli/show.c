/* SPDX-License-Identifier: MIT */
#include "cli/show.h"

#include <stdio.h>

char *gs_show_bytes(uint64_t bytes, char buf[GS_SHOW])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    unsigned u = 0;
    while (v >= 1024 && u < 4) {
        v /= 1024;
        u++;
    }
    snprintf(buf, GS_SHOW, "%.*f %s",
             u == 0 || v >= 100 || v == (double)(uint64_t)v ? 0
             : v >= 10                                      ? 1
                                                            : 2,
             v, units[u]);
    return buf;
}
