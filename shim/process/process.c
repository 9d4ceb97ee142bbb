/* SPDX-License-Identifier: MIT */
#include "shim/process/process.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/variables.h"

struct gs_process gs_process;
static struct {
    pthread_once_t once;
    _Atomic(void *) driver; /* an address in the driver; null: not loaded yet */
} process = {.once = PTHREAD_ONCE_INIT};

static void read_settings(void)
{
    char why[256];
    const char *run = secure_getenv("GPUSPARC_RUN"); /* by a launcher, which has looked at the variables */
    if (!run || !*run)
        gs_say_unknown_variables();
    if (gs_settings_from_env(&gs_process.settings, why, sizeof why) < 0) {
        gs_error("%s; the application runs on one device", why);
        gs_process.settings.mode = GS_MODE_SINGLE;
    }
    if (gs_process.settings.no_daemon)
        atomic_store(&gs_process.look_at_ns, UINT64_MAX);
    atomic_store(&gs_process.looked, gs_process.settings.no_daemon);
    atomic_store(&gs_process.read, true);
}

void gs_settings_read(void)
{
    pthread_once(&process.once, read_settings);
}

void gs_forked_begin(void)
{
    atomic_store(&gs_process.forked, true);
}

void gs_driver_is_at(void *address)
{
    atomic_store(&process.driver, address);
}

bool gs_is_of_driver(void *address)
{
    struct dl_find_object library, driver;
    return _dl_find_object(address, &library) == 0 && _dl_find_object(atomic_load(&process.driver), &driver) == 0 &&
           library.dlfo_link_map == driver.dlfo_link_map;
}
