/* SPDX-License-Identifier: MIT */
#include "shim/process/process.h"

#include <link.h>
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
    atomic_uint before_driver; /* so many objects were loaded; 0: it hasn't come */
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

struct search {
    const void *address; /* or null: the last object */
    unsigned seen;
    bool found;
};

static int look_at(struct dl_phdr_info *object, size_t bytes, void *data)
{
    struct search *s = data;
    (void)bytes;
    s->seen++;
    for (unsigned i = 0; i < object->dlpi_phnum && !s->found; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        s->found = p->p_type == PT_LOAD && (uintptr_t)s->address - object->dlpi_addr - p->p_vaddr < p->p_memsz;
    }
    return s->found;
}

void gs_driver_comes(void)
{
    struct search s = {0};
    dl_iterate_phdr(look_at, &s);
    atomic_store(&process.before_driver, s.seen);
}

/* Objects are listed in the order in which they were loaded. */
bool gs_is_of_driver(const void *address)
{
    struct search s = {.address = address};
    const unsigned before = atomic_load(&process.before_driver);
    return before && dl_iterate_phdr(look_at, &s) && s.seen > before;
}
