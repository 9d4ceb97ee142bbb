/* SPDX-License-Identifier: MIT */
/* What `gpusparc run` can be told, and the environment variable of each option. The launcher checks the words and sets
 * the variables; the shim reads the variables, with or without the launcher. */
#ifndef GS_COMMON_SETTINGS_H
#define GS_COMMON_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GS_MAX_DEVICES = 16 };

enum gs_mode { GS_MODE_AUTO, GS_MODE_SINGLE, GS_MODE_MULTI };

enum gs_device_spec { GS_SPEC_DEFAULT, GS_SPEC_GPU, GS_SPEC_ALL, GS_SPEC_INDICES, GS_SPEC_CPU };

enum gs_transfer_path { GS_TRANSFER_AUTO, GS_TRANSFER_PLAIN, GS_TRANSFER_PINNED, GS_TRANSFER_SHARED, GS_TRANSFER_PEER };

struct gs_settings {
    /* What each call of the application asks for comes first: struct gs_process. */
    const char *stats; /* GPUSPARC_STATS: "-" for stderr, a file, or NULL */
    const char *trace; /* GPUSPARC_TRACE: a file, or NULL */
    const char
        *remote; /* GPUSPARC_REMOTE, by gpusparc run --hosts: the host of each device, with commas between; or NULL */
    enum gs_transfer_path transfer; /* GPUSPARC_TRANSFER: plain, pinned, shared or peer; else the cheapest */
    bool pooled;                    /* GPUSPARC_MEMORY: pooled, or pooled+host:SIZE: docs/memory.md */
    bool pace;                      /* GPUSPARC_PACE: jobs begin at their period: task, or a length of time */
    bool no_daemon;                 /* GPUSPARC_DAEMON=off: don't look for the daemon */
    enum gs_mode mode;              /* GPUSPARC_MODE: auto, single or multi */
    enum gs_device_spec spec;       /* GPUSPARC_DEVICES: gpu, all, 0,2,… or cpu:N */
    unsigned spec_n;                /* the number of indices, or the N of cpu:N */
    unsigned gpus;                  /* GPUSPARC_GPUS: at most so many devices; 0: all */
    uint64_t pooled_host;           /* of that: so many bytes of the host's memory are the application's as well */
    bool verify;                    /* GPUSPARC_VERIFY */
    bool allow_race;                /* GPUSPARC_ALLOW=race: parts may read what other parts of the launch write */
    bool allow_reorder;            /* GPUSPARC_ALLOW=reorder: floating-point atomics may take effect in another order */
    bool forget;                   /* GPUSPARC_FORGET: auto mode begins without what earlier runs have learnt */
    const char *dump;              /* GPUSPARC_DUMP: a folder, or NULL */
    unsigned translate_timeout_ms; /* GPUSPARC_TRANSLATE_TIMEOUT, in seconds; default 20 s */
    const char *only, *not ;       /* GPUSPARC_ONLY, GPUSPARC_NOT: kernels by pattern, or NULL */
    const char *task;              /* GPUSPARC_TASK: its name in the daemon's config, or NULL: by the path */
    bool task_required;            /* GPUSPARC_TASK_REQUIRED: it runs as a task, or ends with status 125 */
    uint64_t pace_ns;              /* of `pace`: the period; 0: the task's own, from the daemon */
    unsigned spec_index[GS_MAX_DEVICES]; /* of GPUSPARC_DEVICES */
};

/* Parses one value, as typed after the option or in the variable. 0, or -EINVAL with one sentence in `why`, in which it
 * is the value of `called`. */
int gs_settings_set(struct gs_settings *s, const char *variable, const char *called, const char *value, char *why,
                    size_t why_bytes);

/* What --allow takes: reorder, race, or both with a comma between them. False: it is neither. */
bool gs_parse_allowed(const char *value, bool *reorder, bool *race);

/* May a kernel of that name be split, by GPUSPARC_ONLY and GPUSPARC_NOT? */
bool gs_settings_choose(const struct gs_settings *s, const char *kernel);

/* Reads every variable. Keeps the default for one that is wrong, and returns -EINVAL with a sentence for the first of
 * them. The strings of *s point into the environment. */
int gs_settings_from_env(struct gs_settings *s, char *why, size_t why_bytes);

#endif
