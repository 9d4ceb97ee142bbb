/* SPDX-License-Identifier: MIT */
/* By way of memory that the devices' kernels reach: each place leaves there what its part has appended, and what was
 * counted; those that take it know by that where it belongs. In pieces, as the list may be longer than the memory; how
 * many of them have something in them nobody knows here. */
#include "shim/output/append_ways.h"
#include "shim/output/exchange.h"
#include "shim/output/merge_kernels.h"
#include "shim/report/report.h"
#include "shim/memory/scratch.h"

enum { COMMON_PIECE_BYTES = 64 * 1024, MOST_ITEMS = 1 << 18, MOST_ON_CPU = 1 << 12 };

/* What is left: these say what there is, and then come the elements' bytes [from, from + most); from `at` on, and
 * around at `end`. */
enum { HEAD_BYTES = 256 };
struct meeting {
    cl_mem mem;
    uint64_t at, end, from, most;
};

/* Words of the largest size in which the elements can be moved; the work-items share them. A number that wraps around
 * is none of the list, but where it is the first part's, which has stored it already: then all of the list is its. One
 * below 0, before the launch, is of a place before the list's begin, as far as there are such. The head of what is
 * left: where the first part's begin; how many elements there are; and what was counted. */
const char gs_list_source[] =
    "#define WITH_WORDS(MOVE) \\\n"
    "    if (word == 16) \\\n"
    "        MOVE(uint4) \\\n"
    "    else if (word == 8) \\\n"
    "        MOVE(uint2) \\\n"
    "    else if (word == 4) \\\n"
    "        MOVE(uint) \\\n"
    "    else if (word == 2) \\\n"
    "        MOVE(ushort) \\\n"
    "    else \\\n"
    "        MOVE(uchar)\n"
    "ulong gs_let_through(long base, long limited_from, uint counted, ulong bytes, ulong step, ulong unit, ulong "
    "limit)\n"
    "{\n"
    "    long most = (long)(bytes / unit), below = (long)limit - limited_from;\n"
    "    ulong taken = counted / step;\n"
    "    taken = min(taken, below > 0 ? ((ulong)below + step - 1) / step : 0ul);\n"
    "    return min(taken, base < most ? (ulong)(most - base) / step : 0ul) * step;\n"
    "}\n"
    "ulong gs_skipped(long base, ulong step, ulong lead)\n"
    "{\n"
    "    long before = -(long)lead - base;\n"
    "    return before > 0 ? ((ulong)before + step - 1) / step * step : 0ul;\n"
    "}\n"
    "ulong gs_list_wrap(ulong i, ulong end)\n"
    "{\n"
    "    return i < end ? i : i - end;\n"
    "}\n"
    "#define LEAVE(T) \\\n"
    "    { \\\n"
    "        __global const T *it = (__global const T *)(list + (list_at + (ulong)base * unit + from)); \\\n"
    "        for (ulong i = get_global_id(0), n = left / sizeof(T); i < n; i += items) \\\n"
    "            *(__global T *)(meeting + gs_list_wrap(meeting_at + 256 + i * sizeof(T), end)) = it[i]; \\\n"
    "    }\n"
    "__kernel void gs_list_leave(__global uchar *meeting, ulong meeting_at, ulong end, ulong from, ulong most,\n"
    "                            __global const uchar *list, ulong list_at, __global const uchar *counter,\n"
    "                            ulong counter_at, __global const uint *was, uint part, ulong bytes, ulong step,\n"
    "                            ulong unit, ulong limit, ulong lead, uint word, ulong items)\n"
    "{\n"
    "    uint counted = *(__global const uint *)(counter + counter_at);\n"
    "    long base = 0;\n"
    "    ulong elements = 0;\n"
    "    if (part) {\n"
    "        elements = gs_let_through(-(long)lead, 0, counted, bytes, step, unit, limit);\n"
    "    } else if ((int)counted < (int)*was) {\n"
    "        base = -(long)lead;\n"
    "        elements = bytes / unit + lead;\n"
    "    } else {\n"
    "        long begin = (int)*was;\n"
    "        base = begin + (long)gs_skipped(begin, step, lead);\n"
    "        elements = gs_let_through(begin, begin, counted - *was, bytes, step, unit, limit);\n"
    "        elements -= min(elements, (ulong)(base - begin));\n"
    "    }\n"
    "    ulong all = elements * unit, left = all > from ? min(all - from, most) : 0;\n"
    "    if (get_global_id(0) == 0) {\n"
    "        __global ulong *head = (__global ulong *)(meeting + meeting_at);\n"
    "        head[0] = (ulong)base;\n"
    "        head[1] = elements;\n"
    "        head[2] = counted;\n"
    "    }\n"
    "    WITH_WORDS(LEAVE)\n"
    "}\n"
    "#define TAKE(T) \\\n"
    "    { \\\n"
    "        ulong n = left / sizeof(T), first = (before > from ? before - from : 0ul) / sizeof(T); \\\n"
    "        for (ulong i = first + get_global_id(0); i < n; i += items) \\\n"
    "            *(__global T *)(dst + (to + i * sizeof(T))) = \\\n"
    "                *(__global const T *)(meeting + gs_list_wrap(meeting_at + 256 + i * sizeof(T), end)); \\\n"
    "    }\n"
    "__kernel void gs_list_take(__global uchar *dst, ulong at, ulong bytes, __global const uchar *meeting,\n"
    "                           ulong meeting_at, ulong end, ulong from, ulong most, __global uint *bases, uint part,\n"
    "                           ulong step, ulong unit, ulong limit, ulong lead, uint word, ulong items)\n"
    "{\n"
    "    __global const ulong *head = (__global const ulong *)(meeting + meeting_at);\n"
    "    long base = (long)head[0];\n"
    "    ulong elements = head[1], before = 0;\n"
    "    uint counted = (uint)head[2];\n"
    "    if (part) {\n"
    "        base = (int)bases[part];\n"
    "        elements = gs_let_through(base, max(base, 0l), counted, bytes, step, unit, limit);\n"
    "        before = gs_skipped(base, step, lead) * unit;\n"
    "    }\n"
    "    ulong to = at + (ulong)base * unit + from;\n"
    "    ulong all = elements * unit, left = all > from ? min(all - from, most) : 0;\n"
    "    if (get_global_id(0) == 0)\n"
    "        bases[part + 1] = part ? bases[part] + counted : counted;\n"
    "    WITH_WORDS(TAKE)\n"
    "}\n";

_Static_assert(HEAD_BYTES == 256, "the kernels above");

struct exchange {
    const struct gs_list_join *j;
    unsigned first; /* parts from it on leave something */
    uint64_t piece; /* bytes of a list at a time */
    struct gs_giver giver[GS_MAX_DEVICES];
    cl_mem bases[GS_MAX_DEVICES]; /* by taker: where the parts' begin */
};

static struct meeting piece_of(const struct exchange *x, unsigned p, cl_mem mem, uint64_t from)
{
    const uint64_t rest = gs_list_most(&x->j->shape) - from;
    return (struct meeting){
        mem, x->giver[p].place.at, x->giver[p].place.end, from, rest < x->piece ? rest : x->piece,
    };
}

/* The arguments that say what is appended, in the width that the kernels take them. */
struct shape {
    cl_ulong bytes, step, unit, limit, lead, items;
    cl_uint word;
};

/* For at most so many bytes of the list. */
static struct shape shape_of(const struct gs_context *ctx, const struct gs_list_shape *s, uint64_t list_at,
                             uint64_t bytes)
{
    const uint64_t most = ctx->shared_memory ? MOST_ON_CPU : MOST_ITEMS;
    struct shape k = {
        .bytes = s->bytes, .step = s->step, .unit = s->unit, .limit = s->limit, .lead = s->lead, .word = 16};
    while (k.unit % k.word || s->at % k.word || list_at % k.word)
        k.word /= 2;
    const uint64_t words = bytes / k.word, whole = words / GS_BLOCK_ITEMS * GS_BLOCK_ITEMS + GS_BLOCK_ITEMS;
    k.items = whole < most ? whole : most;
    return k;
}

static cl_int leave_elements(struct exchange *x, unsigned p, uint64_t from)
{
    const struct gs_list_join *j = x->j;
    struct gs_command *cmd = &j->l->cmd;
    struct gs_exchange_buffer *place = &x->giver[p].place;
    struct gs_events before = {0};
    const struct gs_list_at own = j->own[p];
    struct meeting m = piece_of(x, p, place->left, from);
    cl_int err;
    cl_command_queue queue = gs_copy_queue(cmd->q, p, &err);
    if (!err)
        err = gs_events_share(&before, j->ran[p]);
    if (!err)
        err = gs_exchange_buffer_take(place, m.most + HEAD_BYTES, &before);
    m.at = place->at;
    const struct shape k = shape_of(cmd->ctx, &j->shape, own.at, m.most);
    const cl_uint part = p;
    const struct gs_list_at counter = j->counter[p];
    cl_mem was = p ? counter.mem : j->list->was; /* a buffer all the same */
    if (!err)
        err = gs_run_output_kernel(queue, gs_output_kernel(cmd->ctx, p, GS_OUTPUT_LIST_LEAVE), k.items,
                                   GS_ARGS(GS_ARG(m.mem), GS_ARG(m.at), GS_ARG(m.end), GS_ARG(m.from), GS_ARG(m.most),
                                           GS_ARG(own.mem), GS_ARG(own.at), GS_ARG(counter.mem), GS_ARG(counter.at),
                                           GS_ARG(was), GS_ARG(part), GS_ARG(k.bytes), GS_ARG(k.step), GS_ARG(k.unit),
                                           GS_ARG(k.limit), GS_ARG(k.lead), GS_ARG(k.word), GS_ARG(k.items)),
                                   &before, &x->giver[p].left);
    if (!err && !p)
        err = gs_events_share(j->read, x->giver[0].left.v[0]);
    if (!err)
        gs_real()->clFlush(queue);
    gs_events_free(&before);
    return err;
}

static cl_int take_elements(struct exchange *x, unsigned q, unsigned p, uint64_t from)
{
    const struct gs_list_join *j = x->j;
    struct gs_command *cmd = &j->l->cmd;
    const struct meeting m = piece_of(x, p, x->giver[p].place.taken[q], from);
    struct gs_events wait = {0};
    cl_int err;
    cl_command_queue queue = gs_copy_queue(cmd->q, q, &err);
    if (!err)
        err = gs_events_share(&wait, j->ran[q]);
    if (!err)
        err = gs_events_share(&wait, x->giver[p].left.v[0]);
    const struct shape k = shape_of(cmd->ctx, &j->shape, 0, m.most);
    const cl_uint part = p;
    cl_mem dst = j->root->place[q].mem;
    if (!err) /* sets bases[q] for the next part */
        err = gs_run_output_kernel(queue, gs_output_kernel(cmd->ctx, q, GS_OUTPUT_LIST_TAKE), k.items,
                                   GS_ARGS(GS_ARG(dst), GS_ARG(j->shape.at), GS_ARG(k.bytes), GS_ARG(m.mem),
                                           GS_ARG(m.at), GS_ARG(m.end), GS_ARG(m.from), GS_ARG(m.most),
                                           GS_ARG(x->bases[q]), GS_ARG(part), GS_ARG(k.step), GS_ARG(k.unit),
                                           GS_ARG(k.limit), GS_ARG(k.lead), GS_ARG(k.word), GS_ARG(k.items)),
                                   &wait, &x->giver[p].taken);
    if (!err && from + m.most == gs_list_most(&j->shape) && p + 1 == j->n)
        err = gs_events_share(j->done, x->giver[p].taken.v[x->giver[p].taken.n - 1]);
    gs_events_free(&wait);
    return err;
}

/* Where the others' begin at home: behind what the first part has counted. */
static cl_int begin_home(const struct exchange *x)
{
    const struct gs_list_join *j = x->j;
    const uint64_t bytes = sizeof(cl_uint);
    cl_int err;
    cl_event event;
    cl_command_queue queue = gs_copy_queue(j->l->cmd.q, 0, &err);
    if (!err)
        err = gs_put_copy(queue, GS_VIA_MEMORY, j->counter[0].mem, x->bases[0], j->counter[0].at, bytes, bytes, 1,
                          &j->ran[0], &event);
    return err ? err : gs_events_add(j->read, event);
}

static cl_int exchange_piece(struct exchange *x, uint64_t from)
{
    const struct gs_list_join *j = x->j;
    cl_int err = CL_SUCCESS;
    for (unsigned p = x->first; p < j->n && !err; p++)
        err = leave_elements(x, p, from);
    for (unsigned q = 0; q < j->n && !err; q++)
        for (unsigned p = q ? 0 : 1; p < j->n && gs_list_takes(j, q) && !err; p++)
            err = take_elements(x, q, p, from);
    for (unsigned p = x->first; p < j->n; p++) {
        const cl_int given = gs_giver_give_back(&x->giver[p], &j->l->cmd, 0);
        err = err ? err : given;
    }
    return err;
}

static uint64_t piece_bytes(const struct gs_launching *l)
{
    return l->cmd.ctx->shared_memory ? COMMON_PIECE_BYTES : GS_EXCHANGE_BUFFER_MOST_BYTES - HEAD_BYTES;
}

/* Of a meeting place. */
static uint64_t place_need(const struct gs_launching *l, uint64_t most)
{
    const uint64_t piece = piece_bytes(l);
    return (most < piece ? most : piece) + HEAD_BYTES;
}

static uint64_t bases_bytes(unsigned n)
{
    return (n + 1) * sizeof(cl_uint);
}

cl_int gs_list_meeting_reserve(struct gs_launching *l, const struct gs_list *list, uint64_t most, unsigned n,
                               struct gs_events *ready)
{
    cl_int err = CL_SUCCESS;
    for (unsigned p = 0; p < n && !err; p++) {
        if (p || list->spread)
            err = gs_exchange_buffer_reserve(&l->cmd, p, place_need(l, most), n, ready);
        if (!err && (!p || list->takes[p]))
            err = gs_scratch_reserve(&l->cmd, p, bases_bytes(n), n, ready);
    }
    return err;
}

static cl_int open_places(struct exchange *x)
{
    const struct gs_list_join *j = x->j;
    struct gs_command *cmd = &j->l->cmd;
    cl_int err = CL_SUCCESS;
    const uint64_t need = place_need(j->l, gs_list_most(&j->shape));
    for (unsigned p = x->first; p < j->n && !err; p++)
        err = gs_exchange_buffer_open(cmd, p, need, &x->giver[p].place);
    for (unsigned q = 0; q < j->n && !err; q++)
        if (gs_list_takes(j, q))
            x->bases[q] = gs_scratch_claim(cmd->ctx, q, bases_bytes(j->n), &err);
    return err ? err : begin_home(x);
}

cl_int gs_list_by_meeting(const struct gs_list_join *j)
{
    struct exchange x = {.j = j, .first = j->list->spread ? 0 : 1, .piece = piece_bytes(j->l)};
    cl_int err = open_places(&x);
    for (uint64_t from = 0; from < gs_list_most(&j->shape) && !err; from += x.piece)
        err = exchange_piece(&x, from);
    for (unsigned p = x.first; p < j->n; p++)
        gs_exchange_buffer_close(&x.giver[p].place);
    if (err || !gs_report_wants_times())
        return err;
    uint64_t times = 0;
    for (unsigned q = 0; q < j->n; q++)
        times += gs_list_takes(j, q);
    cl_command_queue queue = gs_copy_queue(j->l->cmd.q, 0, &err);
    return err ? err : gs_count_exchanged(queue, x.bases[0], sizeof(cl_uint), j->n, j->shape.unit * times, 0, j->done);
}
