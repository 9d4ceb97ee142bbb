/* SPDX-License-Identifier: MIT */
/* gpusparc-probe: the worker that uses the device, in a process of its own, so that a driver that crashes takes nobody
 * along. */
#include <string.h>

#include "common/log.h"
#include "scheduler/probes/probe.h"

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } probes[] = {{"order", probe_order_main}, {"sum", probe_sum_main}, {"latency", probe_latency_main}};
    gs_log_init("gpusparc");
    for (size_t i = 0; argc > 1 && i < sizeof(probes) / sizeof(*probes); i++)
        if (strcmp(argv[1], probes[i].name) == 0)
            return probes[i].run(argc - 1, argv + 1);
    gs_error("probe wants one of order, sum and latency; see gpusparc probe --help");
    return PROBE_EXIT_USAGE;
}
