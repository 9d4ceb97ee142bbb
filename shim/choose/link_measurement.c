/* SPDX-License-Identifier: MIT */
#include "shim/choose/link_measurement.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/spawn.h"
#include "shim/choose/timing.h"
#include "shim/process/threads.h"
#include "shim/client/client.h"
#include "shim/devices/group.h"

enum { TIMEOUT_MS = 30000 };

bool gs_links_measure(struct gs_links *links)
{
    char path[PATH_MAX], request[512], *answer = NULL;
    const char *how = "";
    size_t bytes = 0;
    *links = (struct gs_links){0};
    if (gs_scheduled()) { /* what the probe moves would go by nobody's leave */
        gs_debug("the links aren't measured under a daemon: `gpusparc devices --measure` does it");
        return false;
    }
    const size_t n = gs_links_request(gs_settings(), "brief", request, sizeof request);
    snprintf(path, sizeof path, "%s/gpusparc-link-probe", gs_library_dir());
    const bool well = gs_spawn(path, request, n, TIMEOUT_MS, 0, &answer, &bytes, &how) == 0;
    if (well)
        *links = gs_links_parse(answer, bytes);
    else
        gs_debug("the probe of the links %s", how);
    free(answer);
    return well;
}

static void *measure(void *unused)
{
    struct gs_links links;
    (void)unused;
    if (gs_links_measure(&links))
        gs_timing_links(&links);
    return NULL;
}

void gs_links_measure_async(void)
{
    gs_threads_start("gs-links", NULL, measure, NULL);
}
