/* SPDX-License-Identifier: MIT */
#include "shim/launch/contents.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "shim/memory/coherence.h"
#include "shim/record/own_program.h"
#include "shim/record/bypass.h"
#include "shim/schedule/put.h"
#include "shim/report/report.h"
#include "translator/summary/access_program.h"

enum { LOCAL = 64 };

/* A table has about this many blocks; a block has so many words at least. */
enum { BLOCKS = 1024, LEAST_BLOCK = 64 };

enum { MOST_PIECES = 64 };

/* How long may be waited for the kernel, when the devices have nothing else to do. PoCL compiles it then. */
static const uint64_t kernel_ns = 2000000000;

/* A work-group for each block; the launch may be in pieces, of which get_group_id knows nothing. T is given as an
 * option. */
static const char source[] = "__kernel void gs_bounds(__global const uchar *from, ulong begin, uint step, ulong n, "
                             "ulong block, __global T *to)\n"
                             "{\n"
                             "    __local T least[64], largest[64];\n"
                             "    uint item = get_local_id(0);\n"
                             "    ulong first = get_global_id(0) / 64 * block, end = min(first + block, n);\n"
                             "    T lo = *(__global const T *)(from + begin + first * step), hi = lo;\n"
                             "    for (ulong i = first + item; i < end; i += 64) {\n"
                             "        T word = *(__global const T *)(from + begin + i * step);\n"
                             "        lo = min(lo, word);\n"
                             "        hi = max(hi, word);\n"
                             "    }\n"
                             "    least[item] = lo;\n"
                             "    largest[item] = hi;\n"
                             "    for (uint span = 32; span; span /= 2) {\n"
                             "        barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "        if (item < span) {\n"
                             "            least[item] = min(least[item], least[item + span]);\n"
                             "            largest[item] = max(largest[item], largest[item + span]);\n"
                             "        }\n"
                             "    }\n"
                             "    if (item == 0) {\n"
                             "        to[get_global_id(0) / 64 * 2] = least[0];\n"
                             "        to[get_global_id(0) / 64 * 2 + 1] = largest[0];\n"
                             "    }\n"
                             "}\n";

/* On each place programs of its own: PoCL (3.1) confuses the forms of one kernel where several devices run it at once
 * (see shim/plan/prepare.c). */
struct gs_contents_kernels {
    cl_command_queue queue[GS_MAX_DEVICES];
    cl_program program[GS_MAX_DEVICES][GS_N_INT_TYPES];
    cl_kernel kernel[GS_MAX_DEVICES][GS_N_INT_TYPES];
};

void gs_contents_free(struct gs_context *ctx)
{
    struct gs_contents_kernels *k = ctx->contents;
    for (unsigned p = 0; k && p < GS_MAX_DEVICES; p++) {
        for (unsigned t = 0; t < GS_N_INT_TYPES; t++) {
            if (k->kernel[p][t])
                gs_real()->clReleaseKernel(k->kernel[p][t]);
            if (k->program[p][t])
                gs_real()->clReleaseProgram(k->program[p][t]);
        }
        if (k->queue[p])
            gs_real()->clReleaseCommandQueue(k->queue[p]);
    }
    free(k);
    ctx->contents = NULL;
}

static cl_int build(struct gs_context *ctx, unsigned place, uint8_t type)
{
    static const char *const names[GS_N_INT_TYPES] = {"char", "uchar", "short", "ushort",
                                                      "int",  "uint",  "long",  "ulong"};
    struct gs_contents_kernels *k = ctx->contents;
    char options[32];
    cl_int err;
    snprintf(options, sizeof options, "-DT=%s", names[type]);
    k->program[place][type] = gs_build_own(ctx, place, source, options, &err);
    if (!err)
        k->kernel[place][type] = gs_real()->clCreateKernel(k->program[place][type], "gs_bounds", &err);
    return err;
}

/* The kernel and the queue, made on first need. */
static cl_int prepare(struct gs_context *ctx, unsigned place, uint8_t type)
{
    cl_int err = CL_SUCCESS;
    if (!ctx->contents && !(ctx->contents = calloc(1, sizeof *ctx->contents)))
        return CL_OUT_OF_HOST_MEMORY;
    struct gs_contents_kernels *k = ctx->contents;
    if (!k->queue[place])
        k->queue[place] = gs_real()->clCreateCommandQueue(ctx->o.handle, ctx->dev[place], 0, &err);
    if (err)
        return err;
    if (k->program[place][type]) /* the second time it would fail as it did the first */
        return k->kernel[place][type] ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
    return build(ctx, place, type);
}

/* Waits until the events have ended, or the time has come. */
static bool await(const struct gs_events *e, uint64_t until_ns)
{
    static const struct timespec nap = {0, 20000};
    unsigned looks = 0;
    for (cl_uint i = 0; i < e->n;) {
        if (gs_event_ended(e->v[i])) {
            i++;
            continue;
        }
        if (gs_now_ns() > until_ns)
            return false;
        if (looks++ < 100)
            sched_yield();
        else
            nanosleep(&nap, NULL);
    }
    return true;
}

static bool all_well(const struct gs_events *e)
{
    for (cl_uint i = 0; i < e->n; i++)
        if (gs_event_status(e->v[i]) != CL_COMPLETE)
            return false;
    return true;
}

/* A stretch of the root that one place holds and somebody has written: from *at, which goes on behind it. */
static bool next_stretch(const struct gs_mem *root, uint64_t *at, uint64_t end, struct gs_range *r, unsigned *place)
{
    for (size_t i = 0; i < root->undefined.n && *at < end; i++) {
        const struct gs_range *u = &root->undefined.v[i];
        if (u->end <= *at)
            continue;
        if (u->begin > *at) {
            end = u->begin < end ? u->begin : end;
            break;
        }
        *at = u->end;
    }
    if (*at >= end)
        return false;
    r->begin = *at;
    *place = gs_holder(root, (struct gs_range){*at, end}, &r->end);
    *at = r->end;
    return true;
}

static uint64_t bytes_of(uint8_t type)
{
    return gs_int_bits(type) / 8;
}

static uint64_t blocks_of(const struct gs_table_piece *p)
{
    return (p->n + p->block - 1) / p->block;
}

/* The words that lie whole in r. False: none. */
static bool set_piece(struct gs_table_piece *p, const struct gs_table *t, uint64_t first, struct gs_range r)
{
    const uint64_t size = bytes_of(t->type), ahead = r.begin <= first ? 0 : (r.begin - first + t->step - 1) / t->step;
    *p = (struct gs_table_piece){.begin = first + ahead * t->step, .block = LEAST_BLOCK};
    if (p->begin + size > r.end)
        return false;
    p->n = (r.end - size - p->begin) / t->step + 1;
    while (p->block * BLOCKS < p->n)
        p->block *= 2;
    return true;
}

/* Lets a place find the bounds of a piece. Adds to `done` what must have ended before p->raw may be read or freed. */
static cl_int enqueue(struct gs_command *cmd, struct gs_mem *root, unsigned place, const struct gs_table *t,
                      struct gs_table_piece *p, struct gs_events *done)
{
    struct gs_context *ctx = cmd->ctx;
    struct gs_events wait = {0};
    const size_t bytes = blocks_of(p) * 2 * bytes_of(t->type);
    const cl_uint step = t->step;
    cl_event event;
    cl_mem from = NULL, to = NULL;
    cl_int err = prepare(ctx, place, t->type);
    if (!err && !(p->raw = malloc(bytes)))
        err = CL_OUT_OF_HOST_MEMORY;
    if (!err)
        from = gs_replica_of(root, place, &err);
    if (!err)
        to = gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE, bytes, NULL, &err);
    if (!err)
        err = gs_ready_events(cmd, root, place, root, place, &wait);
    cl_kernel k = err ? NULL : ctx->contents->kernel[place][t->type];
    const struct gs_put_arg args[] = {{sizeof from, &from, true},          {sizeof p->begin, &p->begin, false},
                                      {sizeof step, &step, false},         {sizeof p->n, &p->n, false},
                                      {sizeof p->block, &p->block, false}, {sizeof to, &to, true}};
    const struct gs_op read = {.kind = GS_OP_READ, .src = to, .region = {bytes, 1, 1}, .ptr = p->raw};
    cl_command_queue queue = err ? NULL : ctx->contents->queue[place];
    const struct gs_put_launch launch = {k, args, sizeof args / sizeof *args, blocks_of(p) * LOCAL, LOCAL};
    if (!err)
        err = gs_put_kernel(queue, &launch, wait.n, wait.v, NULL);
    if (!err)
        err = gs_put(queue, &read, GS_VIA_HOST, 0, NULL, &event);
    if (!err && (err = gs_events_add(done, event)) != CL_SUCCESS)
        p->raw = NULL; /* nobody will know when it has been written: it is nobody's any more */
    if (queue)
        gs_real()->clFlush(queue);
    if (to)
        gs_real()->clReleaseMemObject(to);
    gs_events_free(&wait);
    if (!err)
        gs_report_moved(GS_PATH_BOUNDS, bytes);
    return err;
}

void gs_table_free(struct gs_table *t)
{
    for (unsigned i = 0; i < t->n; i++)
        free(t->v[i].raw);
    free(t->v);
    free(t);
}

/* Once a read has ended, however late. */
static void CL_CALLBACK free_late(cl_event event, cl_int status, void *raw)
{
    (void)event;
    (void)status;
    free(raw);
}

/* A device may still be writing to what the pieces have. */
static void abandon(struct gs_table *t, const struct gs_events *done)
{
    for (unsigned i = 0; i < t->n; i++) {
        if (i < done->n && !gs_event_ended(done->v[i])) {
            gs_real()->clSetEventCallback(done->v[i], CL_COMPLETE, free_late, t->v[i].raw);
            t->v[i].raw = NULL;
        }
    }
    gs_table_free(t);
}

/* Has all that was enqueued before ended, or does so soon? Transfers between the places count. */
static bool has_settled(struct gs_command *cmd, const struct gs_mem *root, uint64_t patience_ns)
{
    struct gs_events wait = {0};
    cl_int err = gs_command_order(cmd);
    if (!err)
        err = gs_events_share_all(&wait, &cmd->before);
    for (unsigned i = 0; i < cmd->ctx->n && !err; i++)
        if (root->place[i].ready)
            err = gs_events_share(&wait, root->place[i].ready);
    gs_real()->clFlush(cmd->q->o.handle);
    gs_command_flush(cmd->q);
    const bool settled = !err && await(&wait, gs_now_ns() + patience_ns);
    gs_events_free(&wait);
    return settled;
}

struct gs_table *gs_table_make(struct gs_command *cmd, const struct gs_mem *m, const struct gs_words *words,
                               uint64_t patience_ns)
{
    struct gs_mem *root = m->root;
    const uint64_t first = m->origin + words->begin % words->step, end = m->origin + m->size;
    struct gs_events done = {0};
    struct gs_range r;
    unsigned place;
    /* From now on every command that writes is told of. */
    gs_has_spread(cmd->ctx);
    gs_pass_bar(cmd->ctx);
    if (!has_settled(cmd, root, patience_ns))
        return NULL;
    gs_settle(root);
    if (gs_sound(root, gs_window_range(m, 0, m->size)) != CL_SUCCESS)
        return NULL;
    struct gs_table *t = calloc(1, sizeof *t);
    if (t)
        t->v = calloc(MOST_PIECES, sizeof *t->v);
    if (!t || !t->v) {
        free(t);
        return NULL;
    }
    *t = (struct gs_table){
        .id = ++cmd->ctx->tables, .written = root->written, .step = words->step, .type = words->type, .v = t->v};
    cl_int err = CL_SUCCESS;
    for (uint64_t at = m->origin; !err && t->n < MOST_PIECES && next_stretch(root, &at, end, &r, &place);)
        if (set_piece(&t->v[t->n], t, first, r)) {
            err = enqueue(cmd, root, place, t, &t->v[t->n], &done);
            t->n++;
        }
    const bool ended = await(&done, gs_now_ns() + kernel_ns);
    if (err || !ended || !all_well(&done)) {
        abandon(t, &done);
        t = NULL;
    }
    gs_events_free(&done);
    return t;
}
