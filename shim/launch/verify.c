/* SPDX-License-Identifier: MIT */
/* See launch.h, section verify.c. */
#include "common/lock/rank.h"

#include <inttypes.h>

#include "common/log.h"
#include "shim/launch/launch.h"
#include "shim/coherence/coherence.h"
#include "shim/report/report.h"

/* A launch is run split, then on one device: again, up to so many times, while that alone may explain a difference. */
enum { BEFORE, SPLIT, RUN, MOST_RUNS = 4, MOMENTS = RUN + MOST_RUNS };

/* The bytes of every root that the launch writes, at several moments: by use; null where the use only reads. */
struct check {
    struct gs_launching *l;
    struct gs_plan *plan;
    unsigned taken; /* so many; from RUN on one device's runs */
    unsigned char **bytes[MOMENTS];
};

static void free_bytes(const struct check *c)
{
    for (unsigned k = 0; k < MOMENTS; k++) {
        for (size_t i = 0; c->bytes[k] && i < c->plan->n_uses; i++)
            free(c->bytes[k][i]);
        free(c->bytes[k]);
    }
}

/* Brings a root home; waits for the transfers, other queues' earlier commands, and the launch's wait list. */
static cl_int bring_home(struct gs_command *cmd, struct gs_mem *root)
{
    struct gs_events done = {0};
    gs_command_end(cmd);
    cl_int err = gs_command_order(cmd);
    if (!err)
        err = gs_require_home(cmd, root, gs_window_range(root, 0, root->size), &done);
    gs_real()->clFlush(cmd->q->o.handle);
    gs_command_flush(cmd->q);
    if (!err)
        gs_events_wait(&cmd->before); /* one that fails is an earlier command's */
    if (!err && done.n)
        err = gs_real()->clWaitForEvents(done.n, done.v);
    gs_events_free(&done);
    return err ? err : gs_real()->clFinish(cmd->q->o.handle);
}

/* Copies a root's bytes at home to `bytes`, or back (`writes`). */
static cl_int transfer(struct gs_command *cmd, struct gs_mem *root, unsigned char *bytes, bool writes)
{
    cl_int err = CL_SUCCESS;
    cl_mem mem = root->o.handle;
    struct gs_op op = writes ? gs_op_write(mem, 0, root->size, bytes) : gs_op_read(mem, 0, root->size, bytes);
    cl_command_queue queue = root->image ? gs_queue_of_kind(cmd->q, GS_IMAGE_QUEUE, 0, &err) : cmd->q->o.handle;
    if (root->image) {
        op.kind = writes ? GS_OP_WRITE_IMAGE : GS_OP_READ_IMAGE;
        gs_image_bytes(root, op.region);
    }
    return err ? err : gs_enqueue_blocking(op, queue);
}

bool gs_verify_usable(const struct gs_plan *plan)
{
    if (plan->reorders) /* bits may differ, and that is allowed */
        return false;
    for (size_t i = 0; i < plan->n_uses; i++)
        if (plan->uses[i].writes != GS_READ_ONLY && !gs_host_may(plan->uses[i].root, CL_MAP_READ | CL_MAP_WRITE))
            return false;
    return true;
}

static cl_int take_bytes(struct check *c)
{
    GS_LABEL(purpose, GS_FOR_VERIFY);
    struct gs_command *cmd = &c->l->cmd;
    unsigned char **bytes = c->bytes[c->taken] = calloc(c->plan->n_uses + 1, sizeof *bytes);
    cl_int err = bytes ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < c->plan->n_uses && !err; i++) {
        struct gs_mem *root = c->plan->uses[i].root;
        if (c->plan->uses[i].writes == GS_READ_ONLY)
            continue;
        bytes[i] = malloc(root->size);
        err = bytes[i] ? bring_home(cmd, root) : CL_OUT_OF_HOST_MEMORY;
        if (!err)
            err = gs_define(root);
        if (!err)
            err = transfer(cmd, root, bytes[i], false);
    }
    c->taken += !err;
    return err;
}

/* Puts back at home the bytes from before the launch. */
static cl_int restore(struct check *c)
{
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < c->plan->n_uses && !err; i++) {
        struct gs_mem *root = c->plan->uses[i].root;
        if (!c->bytes[BEFORE][i])
            continue;
        err = transfer(&c->l->cmd, root, c->bytes[BEFORE][i], true);
        if (!err)
            gs_note_write(root, 0, gs_window_range(root, 0, root->size));
    }
    return err;
}

/* If a part declares to write this byte, the end of the declared range; else the byte itself. */
static uint64_t declared_to(const struct gs_plan *plan, const struct gs_use *u, uint64_t byte)
{
    if (u->writes == GS_COMPARED)
        return byte >= u->window.begin && byte < u->window.end ? u->window.end : byte;
    for (unsigned p = 0; p < plan->n_parts; p++) {
        const struct gs_rangeset *sets[] = {&u->will_write[p], &u->reduced[p]};
        for (unsigned i = 0; i < 2; i++) {
            const size_t at = gs_rangeset_find(sets[i], byte);
            if (at < sets[i]->n && sets[i]->v[at].begin <= byte)
                return sets[i]->v[at].end;
        }
    }
    return byte;
}

/* The first byte that changed although no part declares to write it; `size`: there is none. */
static uint64_t first_undeclared(const struct gs_plan *plan, const struct gs_use *u, const unsigned char *was,
                                 const unsigned char *is, uint64_t size)
{
    uint64_t b = 0;
    while (b < size) {
        const uint64_t end = was[b] == is[b] ? b + 1 : declared_to(plan, u, b);
        if (end == b)
            return b;
        b = end;
    }
    return size;
}

/* Do one device's runs differ in the 8 bytes around this byte? A sum in another order differs in its last bits, and a
 * carry can reach the other bytes of the number. */
static bool varies(const struct check *c, size_t use, uint64_t byte)
{
    enum { NUMBER = 8 };
    const uint64_t begin = byte / NUMBER * NUMBER, rest = c->plan->uses[use].root->size - begin;
    bool same = true;
    for (unsigned k = RUN + 1; k < c->taken && same; k++)
        same = memcmp(c->bytes[RUN][use] + begin, c->bytes[k][use] + begin, rest < NUMBER ? rest : NUMBER) == 0;
    return !same;
}

/* The first byte where the split differs from one device's first run. `varying`: only where one device's runs differ
 * among themselves, too; else only where these agree. The size: there is no such byte. */
static uint64_t first_difference(const struct check *c, size_t use, bool varying)
{
    const unsigned char *one = c->bytes[RUN][use], *many = c->bytes[SPLIT][use];
    const uint64_t size = c->plan->uses[use].root->size;
    uint64_t b = one && memcmp(one, many, size) != 0 ? 0 : size;
    while (b < size && (one[b] == many[b] || varies(c, use, b) != varying))
        b++;
    return b;
}

static bool differs(const struct check *c)
{
    bool found = false;
    for (size_t i = 0; i < c->plan->n_uses && !found; i++)
        found = first_difference(c, i, false) < c->plan->uses[i].root->size;
    return found;
}

/* The name of the first argument that leads to a root. */
static const char *name_of(const struct gs_launching *l, const struct gs_mem *root)
{
    cl_uint i = 0;
    while (!l->mems[i] || l->mems[i]->root != root)
        i++;
    return l->summary->args[i].name;
}

/* Prints to stderr where the split and one device disagree, where bytes changed that no part declares, and where one
 * device's own runs differ (no fault of the split). Returns true if there is no fault. */
static bool compare(const struct check *c)
{
    const struct gs_launching *l = c->l;
    const struct gs_plan *plan = c->plan;
    const char *kernel = l->k->kind->name;
    bool right = true;
    const char *in_place = NULL; /* an argument of which a part may read bytes that another part writes */
    for (size_t i = plan->n_uses; i-- > 0;)
        in_place = gs_plan_parts_overlap(plan, i) ? name_of(l, plan->uses[i].root) : in_place;
    for (size_t i = 0; i < plan->n_uses; i++) {
        const unsigned char *was = c->bytes[BEFORE][i], *one = c->bytes[RUN][i], *many = c->bytes[SPLIT][i];
        const char *name = name_of(l, plan->uses[i].root);
        const uint64_t size = plan->uses[i].root->size;
        if (!was)
            continue;
        uint64_t b = first_difference(c, i, true);
        if (b < size)
            gs_error("verify: kernel %s: argument %s varies at byte %" PRIu64
                     ": two runs on one device differ there, too, by a race or by what nobody has written: it "
                     "isn't the split",
                     kernel, name, b);
        b = first_difference(c, i, false);
        if (b < size)
            gs_error("verify: kernel %s: argument %s differs at byte %" PRIu64 ": %02x on one device, %02x split%s%s%s",
                     kernel, name, b, one[b], many[b], in_place ? "; parts may read what others write of " : "",
                     in_place ? in_place : "", in_place ? ": a race of the kernel's own, if they do" : "");
        const uint64_t outside = first_undeclared(plan, &plan->uses[i], was, one, size);
        if (outside < size)
            gs_error("verify: kernel %s: argument %s changed at byte %" PRIu64 ", which the summary doesn't declare",
                     kernel, name, outside);
        right = right && b == size && outside == size;
    }
    return right;
}

static cl_int run_single(struct check *c, cl_event *event)
{
    GS_LABEL(purpose, GS_FOR_VERIFY);
    cl_int err = restore(c);
    if (!err)
        err = gs_launch_single(c->l, event);
    return err ? err : take_bytes(c);
}

cl_int gs_launch_verified(struct gs_launching *l, struct gs_plan *plan, cl_event *event, bool *went)
{
    struct check c = {.l = l, .plan = plan};
    GS_MAY_WAIT("one device's run, to compare", GS_WITHOUT_LIMIT);
    cl_int err = take_bytes(&c);
    if (!err)
        err = gs_launch_parts(l, plan, NULL, went);
    if (!err)
        err = take_bytes(&c);
    if (!err)
        err = run_single(&c, event);
    while (!err && c.taken < MOMENTS && differs(&c))
        err = run_single(&c, NULL);
    if (c.taken > RUN)
        gs_report_verified(l->k->kind->stats, compare(&c));
    free_bytes(&c);
    return err;
}
