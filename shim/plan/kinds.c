/* SPDX-License-Identifier: MIT */
/* See prepare.h, section kinds.c. kinds.lock: each program's list p->kinds. */
#include "shim/plan/prepare.h"

#include "common/lock/rank.h"
#include "shim/plan/plan.h"
#include "shim/report/report.h"

static struct {
    pthread_mutex_t lock;         /* all programs' lists */
    atomic_uint_fast64_t unknown; /* programs whose contents nobody knows, so far */
} kinds = {.lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(kinds.lock, GS_RANK_KINDS);

static struct gs_kernel_kind *make(cl_kernel handle, const char *name)
{
    struct gs_kernel_kind *k = calloc(1, sizeof *k);
    if (!k || !(k->name = strdup(name))) {
        free(k);
        return NULL;
    }
    gs_real()->clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, sizeof k->n_args, &k->n_args, NULL);
    k->stats = gs_report_kernel(name);
    return k;
}

uint64_t gs_program_id(struct gs_program *p)
{
    const uint64_t id = atomic_load(&p->id);
    if (id)
        return id;
    GS_LOCKED(&p->lock);
    return gs_program_id_locked(p);
}

uint64_t gs_program_id_locked(struct gs_program *p)
{
    uint64_t id = atomic_load(&p->id);
    unsigned char digest[GS_HASH_BYTES];
    struct gs_hash h;
    if (id)
        return id;
    gs_hash_begin(&h);
    if (!p->n_units) {
        gs_hash_add_text(&h, p->source);
        gs_hash_add_text(&h, p->options);
    }
    for (size_t i = 0; i < p->n_units; i++) {
        gs_hash_add_text(&h, p->units[i].source);
        gs_hash_add_text(&h, p->units[i].options);
        for (size_t k = 0; k < p->units[i].n_headers; k++)
            gs_hash_add_text(&h, p->units[i].headers[k].text);
    }
    gs_hash_add_text(&h, p->link_options);
    if (p->made_of)
        gs_hash_add(&h, &p->made_of, sizeof p->made_of);
    gs_hash_end(&h, digest);
    memcpy(&id, digest, sizeof id);
    id = id ? id : 1;
    atomic_store(&p->id, id);
    return id;
}

/* A program whose contents are unknown gets an id of its own. */
void gs_program_made_of(struct gs_program *p, const void *bytes, size_t n)
{
    unsigned char digest[GS_HASH_BYTES];
    struct gs_hash h;
    const uint64_t number = bytes ? 0 : atomic_fetch_add(&kinds.unknown, 1) + 1;
    gs_hash_begin(&h);
    gs_hash_add(&h, &number, sizeof number);
    if (bytes)
        gs_hash_add(&h, bytes, n);
    gs_hash_end(&h, digest);
    memcpy(&p->made_of, digest, sizeof p->made_of);
}

struct gs_size *gs_size_of_launch(struct gs_kernel *k, const struct gs_op *launch)
{
    const uint64_t program = gs_program_id(k->program);
    uint64_t size[6] = {1, 1, 1}; /* global, then local; 0: no local size */
    for (cl_uint d = 0; d < launch->dims; d++) {
        size[d] = launch->global[d];
        size[3 + d] = launch->local ? launch->local[d] : 0;
    }
    if (!atomic_load_explicit(&k->id, memory_order_relaxed)) {
        const uint64_t id = gs_kernel_hash(program, k->kind->name, k->o.ctx->n);
        atomic_store_explicit(&k->id, id, memory_order_relaxed);
        atomic_store_explicit(&k->kind->id, id, memory_order_relaxed);
    }
    return gs_size_make(program, k->kind->name, k->o.ctx->n, size);
}

struct gs_kernel_kind *gs_kind_find_or_make(struct gs_program *p, cl_kernel handle, const char *name, bool *new)
{
    char *own = name ? NULL : gs_kernel_name(handle);
    name = name ? name : own;
    *new = false;
    if (!name)
        return NULL;
    GS_LOCKED(&kinds.lock);
    struct gs_kernel_kind *k = p->kinds;
    while (k && (k->old || strcmp(k->name, name) != 0))
        k = k->next;
    if (!k && (k = make(handle, name)) != NULL) {
        *new = true;
        k->next = p->kinds;
        p->kinds = k;
    }
    free(own);
    return k;
}

/* Drivers refuse a build while kernels exist, so all kinds may go; but another thread's clCreateKernel may just have
 * got one. So a kind stays for one more build, as `old`. */
void gs_kinds_clear(struct gs_program *p)
{
    GS_LOCKED(&kinds.lock);
    for (struct gs_kernel_kind **at = &p->kinds; *at;) {
        struct gs_kernel_kind *k = *at;
        if (k->old) {
            *at = k->next;
            gs_plan_cache_free(k->plans);
            free(k->name);
            free(k);
        } else {
            k->old = true;
            at = &k->next;
        }
    }
}
