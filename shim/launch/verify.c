/* SPDX-License-Identifier: MIT */
#include "shim/launch/verify.h"

#include "common/lock/rank.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "shim/launch/whole.h"
#include "shim/coherence/coherence.h"
#include "shim/report/report.h"
#include "shim/driver/enqueue.h"
#include "shim/memory/image.h"

/* The bytes of every root that a launch writes, at one moment. */
struct snapshot {
    unsigned char **bytes; /* by use; NULL where the use only reads */
    uint64_t *size;
    size_t n;
};

static void free_snapshot(struct snapshot *s)
{
    for (size_t i = 0; s->bytes && i < s->n; i++)
        free(s->bytes[i]);
    free(s->bytes);
    free(s->size);
    *s = (struct snapshot){0};
}

/* Brings a root home and waits for it; and for what other queues still do to it, or the launch's wait list says, which
 * would be put back with the rest. */
static cl_int bring_home(struct gs_command *cmd, struct gs_mem *root)
{
    struct gs_events done = {0};
    const struct gs_range all = {0, root->size};
    gs_command_end(cmd);
    cl_int err = gs_command_order(cmd);
    if (!err)
        err = gs_require_range(cmd, root, 0, all, &done);
    gs_real()->clFlush(cmd->q->o.handle);
    gs_command_flush(cmd->q);
    if (!err)
        gs_events_wait(&cmd->before); /* one that fails is an earlier command's */
    if (!err && done.n)
        err = gs_real()->clWaitForEvents(done.n, done.v);
    gs_events_free(&done);
    return err ? err : gs_real()->clFinish(cmd->q->o.handle);
}

static cl_int read_root(struct gs_command *cmd, struct gs_mem *root, unsigned char **bytes, uint64_t *size)
{
    struct gs_op op = {.kind = GS_OP_READ_IMAGE, .blocking = CL_TRUE, .src = root->o.handle};
    *size = root->image ? gs_image_bytes(root, op.region) : root->size;
    *bytes = malloc(*size);
    cl_int err = *bytes ? bring_home(cmd, root) : CL_OUT_OF_HOST_MEMORY;
    if (!err)
        err = gs_define(root);
    if (err)
        return err;
    if (!root->image)
        return gs_enqueue_read(cmd->q->o.handle, root->o.handle, 0, *size, *bytes);
    cl_command_queue queue = gs_queue_behind(cmd->q, GS_IMAGE_QUEUE, 0, &err);
    op.ptr = *bytes;
    return err ? err : gs_enqueue(&op, queue, 0, NULL, NULL);
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

static cl_int take_snapshot(struct gs_command *cmd, const struct gs_plan *plan, struct snapshot *s)
{
    *s = (struct snapshot){calloc(plan->n_uses + 1, sizeof *s->bytes), calloc(plan->n_uses + 1, sizeof *s->size),
                           plan->n_uses};
    cl_int err = s->bytes && s->size ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < plan->n_uses && !err; i++)
        if (plan->uses[i].writes != GS_READ_ONLY)
            err = read_root(cmd, plan->uses[i].root, &s->bytes[i], &s->size[i]);
    return err;
}

/* Makes home hold the snapshot's bytes. */
static cl_int restore(struct gs_command *cmd, const struct gs_plan *plan, const struct snapshot *s)
{
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < s->n && !err; i++) {
        struct gs_mem *root = plan->uses[i].root;
        struct gs_op op = {.kind = GS_OP_WRITE_IMAGE, .blocking = CL_TRUE, .dst = root->o.handle, .ptr = s->bytes[i]};
        if (!s->bytes[i])
            continue;
        if (root->image) {
            gs_image_bytes(root, op.region);
            cl_command_queue queue = gs_queue_behind(cmd->q, GS_IMAGE_QUEUE, 0, &err);
            if (!err)
                err = gs_enqueue(&op, queue, 0, NULL, NULL);
        } else {
            err = gs_enqueue_write(cmd->q->o.handle, root->o.handle, 0, s->size[i], s->bytes[i]);
        }
        if (!err && gs_wrote_range(root, 0, (struct gs_range){0, root->size}) < 0)
            err = CL_OUT_OF_HOST_MEMORY;
    }
    return err;
}

/* The end of the range that holds this byte and that a part declares to write; the byte itself where none does. */
static uint64_t declared_to(const struct gs_plan *plan, const struct gs_use *u, uint64_t byte)
{
    if (u->writes == GS_COMPARED)
        return byte >= u->window.begin && byte < u->window.end ? u->window.end : byte;
    for (unsigned p = 0; p < plan->n_parts; p++) {
        const struct gs_rangeset *sets[] = {&u->wrote[p], &u->reduced[p]};
        for (unsigned i = 0; i < 2; i++) {
            const size_t at = gs_rangeset_find(sets[i], byte);
            if (at < sets[i]->n && sets[i]->v[at].begin <= byte)
                return sets[i]->v[at].end;
        }
    }
    return byte;
}

/* The first byte that has changed outside of what is declared; `size` where none has. */
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

/* Do one device's runs differ in the number that the byte may be part of? A sum in another order has other last bits,
 * and now and then a carry into those before them. */
static bool varies(const unsigned char *one, const unsigned char *other, uint64_t size, uint64_t byte)
{
    enum { NUMBER = 8 };
    const uint64_t begin = byte / NUMBER * NUMBER, n = size - begin < NUMBER ? size - begin : NUMBER;
    return memcmp(one + begin, other + begin, n) != 0;
}

/* Is there a byte in which the split differs from one device's run, and one device's runs, of which `again` has been
 * joined, don't differ among themselves? */
static bool differs(const struct snapshot *single, const struct snapshot *again, const struct snapshot *split)
{
    for (size_t i = 0; i < single->n; i++) {
        const unsigned char *one = single->bytes[i], *many = split->bytes[i];
        const uint64_t size = one && memcmp(one, many, single->size[i]) != 0 ? single->size[i] : 0;
        for (uint64_t b = 0; b < size; b++)
            if (one[b] != many[b] && !varies(one, again->bytes[i], size, b))
                return true;
    }
    return false;
}

/* `again` keeps, of each byte, what was something else than in the first run on one device in some later one. */
static void join(struct snapshot *again, const struct snapshot *single, const struct snapshot *earlier)
{
    for (size_t i = 0; i < again->n; i++)
        for (uint64_t b = 0; again->bytes[i] && b < again->size[i]; b++)
            if (again->bytes[i][b] == single->bytes[i][b])
                again->bytes[i][b] = earlier->bytes[i][b];
}

/* The name of the first argument that leads to a root. */
static const char *name_of(const struct gs_launching *l, const struct gs_mem *root)
{
    cl_uint i = 0;
    while (!l->mems[i] || l->mems[i]->root != root)
        i++;
    return l->summary->args[i].name;
}

/* Says on stderr what differs between one device's bytes and the split's, what changed outside of the declared ranges,
 * and what isn't the split's fault, since one device's runs differ in it. True: nothing but that. */
static bool compare(const struct gs_launching *l, const struct gs_plan *plan, const struct snapshot *before,
                    const struct snapshot *single, const struct snapshot *again, const struct snapshot *split)
{
    const char *kernel = l->k->name;
    bool right = true;
    const char *in_place = NULL; /* an argument of which a part may read what another writes */
    for (size_t i = plan->n_uses; i-- > 0;)
        in_place = gs_plan_parts_overlap(plan, i) ? name_of(l, plan->uses[i].root) : in_place;
    for (size_t i = 0; i < plan->n_uses; i++) {
        const unsigned char *was = before->bytes[i], *one = single->bytes[i], *many = split->bytes[i];
        const char *name = name_of(l, plan->uses[i].root);
        const uint64_t size = was ? before->size[i] : 0;
        bool differ = false, random = false;
        const uint64_t end = size && memcmp(one, many, size) != 0 ? size : 0;
        for (uint64_t b = 0; b < end && !(differ && random); b++) {
            if (one[b] == many[b])
                continue;
            const bool by_itself = varies(one, again->bytes[i], size, b);
            if (by_itself && !random)
                gs_error("verify: kernel %s: argument %s varies at byte %" PRIu64
                         ": two runs on one device differ there, too, by a race or by what nobody has written: it "
                         "isn't the split",
                         kernel, name, b);
            else if (!by_itself && !differ)
                gs_error("verify: kernel %s: argument %s differs at byte %" PRIu64
                         ": %02x on one device, %02x split%s%s%s",
                         kernel, name, b, one[b], many[b], in_place ? "; parts may read what others write of " : "",
                         in_place ? in_place : "", in_place ? ": a race of the kernel's own, if they do" : "");
            differ = differ || !by_itself;
            random = random || by_itself;
        }
        const uint64_t outside = first_undeclared(plan, &plan->uses[i], was, one, size);
        if (outside < size)
            gs_error("verify: kernel %s: argument %s changed at byte %" PRIu64 ", which the summary doesn't declare",
                     kernel, name, outside);
        right = right && !differ && outside == size;
    }
    return right;
}

/* One device's run once more from the same bytes, and again while it doesn't show that what differs in the split does
 * so between one device's runs too. */
static cl_int run_again(struct gs_launching *l, const struct gs_plan *plan, const struct snapshot *before,
                        const struct snapshot *single, const struct snapshot *split, struct snapshot *again)
{
    enum { MOST = 3 };
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < MOST && !err && differs(single, again->n ? again : single, split); i++) {
        struct snapshot earlier = *again;
        *again = (struct snapshot){0};
        err = restore(&l->cmd, plan, before);
        if (!err)
            err = gs_launch_single(l, NULL);
        if (!err)
            err = take_snapshot(&l->cmd, plan, again);
        if (!err && earlier.n)
            join(again, single, &earlier);
        free_snapshot(&earlier);
    }
    return err;
}

cl_int gs_launch_verified(struct gs_launching *l, struct gs_plan *plan, cl_event *event, bool *went)
{
    struct snapshot before = {0}, split = {0}, single = {0}, again = {0};
    const struct gs_label label = gs_label_purpose(GS_FOR_VERIFY);
    GS_MAY_WAIT("one device's run");
    cl_int err = take_snapshot(&l->cmd, plan, &before);
    gs_label_set(label);
    if (!err)
        err = gs_launch_parts(l, plan, NULL, went);
    gs_label_purpose(GS_FOR_VERIFY);
    if (!err)
        err = take_snapshot(&l->cmd, plan, &split);
    if (!err)
        err = restore(&l->cmd, plan, &before);
    if (!err)
        err = gs_launch_single(l, event);
    if (!err)
        err = take_snapshot(&l->cmd, plan, &single);
    if (!err) {
        err = run_again(l, plan, &before, &single, &split, &again);
        const struct snapshot *other = err || !again.n ? &single : &again;
        gs_report_verified(l->k->stats, compare(l, plan, &before, &single, other, &split));
    }
    GS_MAY_WAIT_NO_MORE();
    gs_label_set(label);
    free_snapshot(&before);
    free_snapshot(&split);
    free_snapshot(&single);
    free_snapshot(&again);
    return err;
}
