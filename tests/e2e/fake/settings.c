/* SPDX-License-Identifier: MIT */
/* What the environment asks for, and what all files share. */
#include "fake.h"

#include <errno.h>
#include <unistd.h>

struct fake fake = {.n_devices = 2, .wave = 1, .marker_ns = 1, .read_ns = 1};

static void take_apart(void)
{
    atomic_store(&fake.apart, true);
    usleep((useconds_t)strtoul(getenv("FAKE_END_MS"), NULL, 10) * 1000);
}

__attribute__((constructor)) static void set_up(void)
{
    const char *file = getenv("FAKE_LOG"), *times = getenv("FAKE_SLOWER"), *waves = getenv("FAKE_WAVE"),
               *item = getenv("FAKE_ITEM_NS"), *kib = getenv("FAKE_EVICT"), *marker = getenv("FAKE_MARKER_NS"),
               *read_ns = getenv("FAKE_READ_NS"), *pin = getenv("FAKE_PIN_NS");
    /* What compiles for later processes begins when the application ends, perhaps before its log is read. */
    fake.log = file && strcmp(program_invocation_short_name, "gpusparc-compile") != 0 ? fopen(file, "w") : NULL;
    fake.item_ns = item ? strtod(item, NULL) : 0;
    fake.wave = waves ? strtoull(waves, NULL, 10) : 1;
    fake.marker_ns = marker ? strtoull(marker, NULL, 10) : fake.marker_ns;
    fake.read_ns = read_ns ? strtoull(read_ns, NULL, 10) : fake.read_ns;
    fake.pin_ns = pin ? strtoull(pin, NULL, 10) : 0;
    fake.unlike = times && *times;
    for (cl_uint i = 1; times && i < FAKE_DEVICES; i++) {
        fake.devices[i].slower = times;
        fake.n_devices = i + 1;
        times = strchr(times, '/');
        times = times ? times + 1 : NULL;
    }
    fake.rounds_arg = getenv("FAKE_ROUNDS");
    fake.rounds_arg = fake.rounds_arg && *fake.rounds_arg ? fake.rounds_arg : NULL;
    if (kib)
        fake_set_up_eviction(strtoull(kib, NULL, 10) * 1024);
    if (getenv("FAKE_END_MS"))
        atexit(take_apart);
}

void fake_say(const char *call, cl_command_queue queue)
{
    if (fake.log)
        fprintf(fake.log, "%s %u\n", call, queue ? queue->number : 0);
}

void *fake_make(size_t bytes, cl_int *err)
{
    void *p = calloc(1, bytes);
    if (err)
        *err = p ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    return p;
}

cl_int fake_answer_text(const char *text, size_t room, void *out, size_t *bytes_ret)
{
    return answer(text, strlen(text) + 1, room, out, bytes_ret);
}
