/* SPDX-License-Identifier: MIT */
#include "shim/process/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/variables.h"

static struct {
    struct gs_settings settings;
    pthread_once_t once;
    atomic_bool read; /* the settings */
    atomic_bool forked;
} process = {.once = PTHREAD_ONCE_INIT};

static void read_settings(void)
{
    char why[256];
    const char *run = secure_getenv("GPUSPARC_RUN"); /* by a launcher, which has looked at the variables */
    if (!run || !*run)
        gs_say_unknown_variables();
    if (gs_settings_from_env(&process.settings, why, sizeof why) < 0) {
        gs_error("%s; the application runs on one device", why);
        process.settings.mode = GS_MODE_SINGLE;
    }
    atomic_store(&process.read, true);
}

const struct gs_settings *gs_settings(void)
{
    if (!atomic_load_explicit(&process.read, memory_order_acquire)) /* each call of the application asks */
        pthread_once(&process.once, read_settings);
    return &process.settings;
}

bool gs_forked(void)
{
    return atomic_load_explicit(&process.forked, memory_order_relaxed);
}

void gs_forked_begin(void)
{
    atomic_store(&process.forked, true);
}
