/* SPDX-License-Identifier: MIT */
#include "shim/choose/link_measurement.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/spawn.h"
#include "shim/choose/timing.h"
#include "shim/process/threads.h"
#include "shim/schedule/client.h"
#include "shim/record/group.h"

enum { TIMEOUT_MS = 30000 };

static void *measure(void *unused)
{
    char path[PATH_MAX], request[512], *answer = NULL;
    const char *how = "";
    size_t bytes = 0;
    (void)unused;
    if (gs_scheduled()) { /* what the probe moves would go by nobody's leave */
        gs_debug("the links aren't measured under a daemon: `gpusparc devices --measure` does it");
        return NULL;
    }
    const size_t n = gs_links_request(gs_settings(), "brief", request, sizeof request);
    snprintf(path, sizeof path, "%s/gpusparc-link-probe", gs_library_dir());
    if (gs_spawn(path, request, n, TIMEOUT_MS, 0, &answer, &bytes, &how) == 0) {
        const struct gs_links links = gs_links_parse(answer, bytes);
        gs_timing_links(&links);
    } else {
        gs_debug("the probe of the links %s", how);
    }
    free(answer);
    return NULL;
}

void gs_links_measure_async(void)
{
    gs_threads_start("gs-links", NULL, measure, NULL);
}
