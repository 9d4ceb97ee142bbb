/* SPDX-License-Identifier: MIT */
/* The engine of --hosts: PoCL's remote driver and its server, as scripts/remote.sh builds them. */
#ifndef GS_CLI_ENGINE_H
#define GS_CLI_ENGINE_H

#include <limits.h>
#include <stddef.h>

enum { GS_ENGINE_STAMP_BYTES = 64 };

struct gs_engine {
    char folder[PATH_MAX];             /* with bin/pocld and vendors/ */
    char stamp[GS_ENGINE_STAMP_BYTES]; /* which version with which edits: client and server must agree */
};

/* Looks in GPUSPARC_ENGINE; else in lib/gpusparc/remote beside this program and in $XDG_DATA_HOME/gpusparc/remote. 0,
 * or -ENOENT with a sentence that says what to do. */
int gs_engine_find(struct gs_engine *e, char *why, size_t why_bytes);

#endif
