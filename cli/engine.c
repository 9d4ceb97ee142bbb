/* SPDX-License-Identifier: MIT */
#include "cli/engine.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/paths.h"

static bool read_stamp(struct gs_engine *e)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/VERSION", e->folder);
    FILE *f = fopen(path, "re");
    const bool any = f && fgets(e->stamp, sizeof e->stamp, f);
    if (f)
        fclose(f);
    e->stamp[any ? strcspn(e->stamp, "\n") : 0] = '\0';
    snprintf(path, sizeof path, "%s/bin/pocld", e->folder);
    return any && *e->stamp && access(path, X_OK) == 0;
}

static bool is_in(struct gs_engine *e, const char *base, const char *below)
{
    return base && *base && snprintf(e->folder, sizeof e->folder, "%s%s", base, below) < (int)sizeof e->folder &&
           read_stamp(e);
}

int gs_engine_find(struct gs_engine *e, char *why, size_t why_bytes)
{
    const char *told = getenv("GPUSPARC_ENGINE");
    *e = (struct gs_engine){0};
    if (told && *told) {
        if (is_in(e, told, ""))
            return 0;
        snprintf(why, why_bytes, "GPUSPARC_ENGINE: %s holds no engine; scripts/remote.sh FOLDER builds it", told);
        return -ENOENT;
    }
    if ((gs_library_path("remote", e->folder, sizeof e->folder) == 0 && read_stamp(e)) ||
        is_in(e, getenv("XDG_DATA_HOME"), "/gpusparc/remote") ||
        is_in(e, getenv("HOME"), "/.local/share/gpusparc/remote"))
        return 0;
    char script[PATH_MAX];
    const bool known = gs_library_path("scripts/remote.sh", script, sizeof script) == 0;
    snprintf(why, why_bytes, "the engine of --hosts is not on this machine; %s builds it",
             known ? script : "scripts/remote.sh");
    return -ENOENT;
}
