/* SPDX-License-Identifier: MIT */
#include "shim/output/append_kernels.h"

#include "shim/output/merge_kernels.h"

enum { LOCAL = 64, MOST_ITEMS = 1 << 18, MOST_ON_CPU = 1 << 12 };

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

_Static_assert(GS_LIST_HEAD_BYTES == 256, "the kernels above");

/* So that no sum of it wraps around. */
static uint64_t limit_of(const struct gs_list_shape *s)
{
    return s->limit < 1ull << 33 ? s->limit : 1ull << 33;
}

static uint64_t up_to(int64_t from, int64_t to, uint64_t step)
{
    return from < to ? ((uint64_t)(to - from) + step - 1) / step : 0;
}

static struct gs_list_piece let_through(const struct gs_list_shape *s, int64_t base, int64_t limited_from,
                                        uint32_t counted)
{
    const int64_t most = (int64_t)(s->bytes / s->unit);
    uint64_t taken = counted / s->step, room = up_to(limited_from, (int64_t)limit_of(s), s->step);
    taken = taken < room ? taken : room;
    room = base < most ? (uint64_t)(most - base) / s->step : 0;
    taken = taken < room ? taken : room;
    const uint64_t skipped = up_to(base, -(int64_t)s->lead, s->step);
    return (struct gs_list_piece){base, (skipped < taken ? skipped : taken) * s->step, taken * s->step};
}

uint64_t gs_list_most(const struct gs_list_shape *s)
{
    return s->bytes + s->lead * s->unit;
}

struct gs_list_piece gs_list_first_piece(const struct gs_list_shape *s, uint32_t was, uint32_t counted)
{
    if ((int32_t)counted < (int32_t)was)
        return (struct gs_list_piece){-(int64_t)s->lead, 0, s->bytes / s->unit + s->lead};
    return let_through(s, (int32_t)was, (int32_t)was, counted - was);
}

struct gs_list_piece gs_list_next_piece(const struct gs_list_shape *s, uint32_t base, uint32_t counted)
{
    const int64_t from = (int32_t)base;
    return let_through(s, from, from > 0 ? from : 0, counted);
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
        .bytes = s->bytes, .step = s->step, .unit = s->unit, .limit = limit_of(s), .lead = s->lead, .word = 16};
    while (k.unit % k.word || s->at % k.word || list_at % k.word)
        k.word /= 2;
    const uint64_t words = bytes / k.word, whole = words / LOCAL * LOCAL + LOCAL;
    k.items = whole < most ? whole : most;
    return k;
}

cl_int gs_enqueue_list_leave(struct gs_context *ctx, unsigned place, cl_command_queue queue,
                             const struct gs_list_shape *s, unsigned part, const struct gs_list_meeting *m, cl_mem list,
                             uint64_t list_at, cl_mem counter, uint64_t counter_at, cl_mem was,
                             const struct gs_events *wait, struct gs_events *done)
{
    const struct shape k = shape_of(ctx, s, list_at, m->most);
    const cl_uint number = part;
    cl_mem before = part ? counter : was; /* a buffer all the same */
    return gs_run_output_kernel(queue, gs_output_kernel(ctx, place, GS_OUTPUT_LIST_LEAVE), k.items,
                                GS_ARGS(GS_ARG(m->mem), GS_ARG(m->at), GS_ARG(m->end), GS_ARG(m->from), GS_ARG(m->most),
                                        GS_ARG(list), GS_ARG(list_at), GS_ARG(counter), GS_ARG(counter_at),
                                        GS_ARG(before), GS_ARG(number), GS_ARG(k.bytes), GS_ARG(k.step), GS_ARG(k.unit),
                                        GS_ARG(k.limit), GS_ARG(k.lead), GS_ARG(k.word), GS_ARG(k.items)),
                                wait, done);
}

cl_int gs_enqueue_list_take(struct gs_context *ctx, unsigned place, cl_command_queue queue,
                            const struct gs_list_shape *s, unsigned part, const struct gs_list_meeting *m, cl_mem dst,
                            cl_mem bases, const struct gs_events *wait, struct gs_events *done)
{
    const struct shape k = shape_of(ctx, s, 0, m->most);
    const cl_uint number = part;
    return gs_run_output_kernel(queue, gs_output_kernel(ctx, place, GS_OUTPUT_LIST_TAKE), k.items,
                                GS_ARGS(GS_ARG(dst), GS_ARG(s->at), GS_ARG(k.bytes), GS_ARG(m->mem), GS_ARG(m->at),
                                        GS_ARG(m->end), GS_ARG(m->from), GS_ARG(m->most), GS_ARG(bases), GS_ARG(number),
                                        GS_ARG(k.step), GS_ARG(k.unit), GS_ARG(k.limit), GS_ARG(k.lead), GS_ARG(k.word),
                                        GS_ARG(k.items)),
                                wait, done);
}
