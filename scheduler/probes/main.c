/* SPDX-License-Identifier: MIT */
/* gpusparc-probe: the worker that uses the device, in a process of its own, so that a driver that crashes takes nobody
 * along. */
#include <stdio.h>
#include <string.h>

#include "common/json_failure.h"
#include "common/log.h"
#include "scheduler/probes/probe.h"

static int run(int argc, char **argv)
{
    static const struct probe_kind *const kinds[] = {&probe_order, &probe_sum, &probe_latency, &probe_starts,
                                                     &probe_handover};
    for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(argv[1], kinds[i]->name) == 0)
            return probe_main(kinds[i], argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], PROBE_TURNS) == 0)
        return probe_take_turns(argc - 1, argv + 1);
    gs_error("probe wants one of order, sum, latency, starts and handover; see gpusparc probe --help");
    return PROBE_EXIT_USAGE;
}

static int run_with_json(int argc, char **argv)
{
    gs_json_failure_begin();
    const int status = run(argc, argv);
    gs_json_failure_end(status);
    return status;
}

int main(int argc, char **argv)
{
    gs_log_init("gpusparc");
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0)
            return gs_exit_status(run_with_json(argc, argv), PROBE_EXIT_FAILED);
    return gs_exit_status(run(argc, argv), PROBE_EXIT_FAILED);
}
