/* SPDX-License-Identifier: MIT */
/* See timing.h, section later.c. */
#include "shim/choose/timing_book.h"

#include <limits.h>
#include <unistd.h>

#include "common/later.h"
#include "common/log.h"
#include "common/spawn.h"
#include "shim/report/report.h"
#include "shim/transfer/transfer.h"

enum { UNSEEN, OPEN, WRITTEN, DONE }; /* gs_program.later */

static struct {
    atomic_uint written; /* programs that are WRITTEN */
    char *layers;        /* OPENCL_LAYERS at the begin: the loader ends the value behind its first layer, as it reads */
} jobs;

__attribute__((constructor)) static void keep_layers(void)
{
    const char *layers = secure_getenv("OPENCL_LAYERS");
    if (layers && asprintf(&jobs.layers, "OPENCL_LAYERS=%s", layers) < 0)
        jobs.layers = NULL;
}

/* The job's name: of program, devices, driver and way of transfer, like the book's file. */
static void find_id(const struct gs_program *p, char id[GS_HASH_HEX_BYTES])
{
    const uint64_t program = atomic_load(&p->id);
    struct gs_hash h;
    gs_hash_begin(&h);
    gs_hash_add(&h, &program, sizeof program);
    gs_hash_add_text(&h, gs_book.learnt_name);
    gs_hash_end_hex(&h, id);
}

/* Not on CPUs, where most of the compiling comes with the first launches. Not under a daemon, where it would take time
 * of a task's devices. Not for programs that can't be made again from a text and options. */
static bool is_fit(const struct gs_program *p)
{
    const char *uncached = getenv("CUDA_CACHE_DISABLE"); /* of NVIDIA's driver */
    return !(uncached && *uncached == '1') && p->source && p->options && !p->n_units && !p->from_binary &&
           !p->o.ctx->pooled && !atomic_load(&gs_process.large) && !gs_group()->remote &&
           !(gs_group()->type & CL_DEVICE_TYPE_CPU) && gs_settings()->mode == GS_MODE_AUTO && !gs_settings()->forget &&
           !gs_scheduled();
}

bool gs_later_look(struct gs_program *p)
{
    char id[GS_HASH_HEX_BYTES];
    unsigned unseen = UNSEEN;
    if (atomic_load(&p->later) != UNSEEN)
        return atomic_load(&p->later) == OPEN;
    struct gs_later_mark m = {GS_LATER_TRIES, 0};
    if (is_fit(p)) {
        find_id(p, id);
        m = gs_later_read(id);
    }
    const bool first = atomic_compare_exchange_strong(&p->later, &unseen, m.tries < GS_LATER_TRIES ? OPEN : DONE);
    if (m.took_ns && first) {
        atomic_store(&p->built_ns, m.took_ns);
        gs_report_later(GS_LATER_FOUND, 1);
    }
    return atomic_load(&p->later) == OPEN;
}

void gs_later_write(struct gs_program *p)
{
    char id[GS_HASH_HEX_BYTES], folder[PATH_MAX] = "/", platform[256] = "";
    unsigned open = OPEN;
    if (!gs_later_look(p) || !atomic_compare_exchange_strong(&p->later, &open, DONE) || !getcwd(folder, sizeof folder))
        return;
    gs_real()->clGetPlatformInfo(gs_group()->platform, CL_PLATFORM_NAME, sizeof platform - 1, platform, NULL);
    const struct gs_later_job job = {platform, folder, p->options, p->source, gs_group()->type, NULL};
    find_id(p, id);
    if (!gs_later_put(id, &job))
        return;
    atomic_store(&p->later, WRITTEN);
    atomic_fetch_add(&jobs.written, 1);
    gs_report_later(GS_LATER_WISHED, 1);
    gs_debug("a program is left to gpusparc-compile: %s", id);
}

void gs_later_compiled(struct gs_program *p)
{
    char id[GS_HASH_HEX_BYTES];
    if (atomic_exchange(&p->later, DONE) != WRITTEN)
        return;
    atomic_fetch_sub(&jobs.written, 1);
    gs_report_later(GS_LATER_WISHED, -1);
    find_id(p, id);
    gs_later_drop(id);
}

bool gs_later_written(void)
{
    return atomic_load(&jobs.written);
}

void gs_later_compile(struct gs_program *p)
{
    char id[GS_HASH_HEX_BYTES];
    struct gs_later_job job = {0};
    gs_program_id(p);
    gs_book_open(p->o.ctx);
    find_id(p, id);
    const bool again = gs_later_read(id).took_ns;
    if (!gs_scheduled() && gs_later_get(id, &job)) /* no job: it is for other devices */
        gs_prepare_by_thread(p, UINT64_MAX);
    if (job.text && gs_prepared(p) && !p->refusal)
        gs_later_mark(id, (struct gs_later_mark){GS_LATER_TRIES, atomic_load(&p->prepare_ns)});
    free(job.text);
    GS_LOCKED(&p->o.ctx->lock);
    /* windows are probed, too, before an application waits for that */
    if (again && p->o.ctx->n > 1 && gs_peer_usable(p->o.ctx))
        gs_peer_ready(p->o.ctx);
}

void gs_later_end(void)
{
    enum { LIMIT_MS = 120000 };
    const char *const more[] = {"GPUSPARC_RUN=compile", "GPUSPARC_MODE=multi", "GPUSPARC_DAEMON=off", jobs.layers,
                                NULL};
    char path[PATH_MAX];
    if (!gs_later_written())
        return;
    snprintf(path, sizeof path, "%s/gpusparc-compile", gs_library_dir());
    gs_spawn_beyond(path, "gpusparc-compile", LIMIT_MS, more);
}
