/* SPDX-License-Identifier: MIT */
#include "shim/append_kernels.h"

#include "shim/put.h"

enum { LOCAL = 64, MOST_ITEMS = 1 << 18, MOST_ON_CPU = 1 << 12 };

const char *const gs_list_kernel_names[GS_LIST_KERNELS] = {
    [GS_LIST_APPEND] = "gs_append", [GS_LIST_LEAVE] = "gs_list_leave", [GS_LIST_TAKE] = "gs_list_take"};

/* Words of the largest size in which the elements can be moved; the work-items share them. A number that wraps around
 * is none of the list, but where it is the first part's, which has stored it already: then all of the list is its. The
 * head: where the first part's begin; how many elements there are; and what was counted. */
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
    "ulong gs_let_through(ulong base, uint counted, ulong bytes, ulong step, ulong unit, ulong limit)\n"
    "{\n"
    "    ulong most = bytes / unit, taken = counted / step;\n"
    "    taken = min(taken, base < limit ? (limit - base + step - 1) / step : 0);\n"
    "    return min(taken, base < most ? (most - base) / step : 0) * step;\n"
    "}\n"
    "ulong gs_list_wrap(ulong i, ulong end)\n"
    "{\n"
    "    return i < end ? i : i - end;\n"
    "}\n"
    "#define APPEND(T) \\\n"
    "    { \\\n"
    "        __global T *to = (__global T *)(dst + at + base * unit); \\\n"
    "        __global const T *from = (__global const T *)(list + list_at); \\\n"
    "        for (ulong i = get_global_id(0), n = elements * unit / sizeof(T); i < n; i += items) \\\n"
    "            to[i] = from[i]; \\\n"
    "    }\n"
    "__kernel void gs_append(__global uchar *dst, ulong at, ulong bytes, __global const uchar *list, ulong list_at,\n"
    "                        __global const uint *counts, uint part, ulong step, ulong unit, ulong limit, uint word,\n"
    "                        ulong items)\n"
    "{\n"
    "    uint before = 0;\n"
    "    for (uint p = 0; p < part; p++)\n"
    "        before += counts[p];\n"
    "    ulong base = before, elements = gs_let_through(base, counts[part], bytes, step, unit, limit);\n"
    "    WITH_WORDS(APPEND)\n"
    "}\n"
    "#define LEAVE(T) \\\n"
    "    { \\\n"
    "        __global const T *it = (__global const T *)(list + list_at + base * unit + from); \\\n"
    "        for (ulong i = get_global_id(0), n = left / sizeof(T); i < n; i += items) \\\n"
    "            *(__global T *)(meeting + gs_list_wrap(meeting_at + 256 + i * sizeof(T), end)) = it[i]; \\\n"
    "    }\n"
    "__kernel void gs_list_leave(__global uchar *meeting, ulong meeting_at, ulong end, ulong from, ulong most,\n"
    "                            __global const uchar *list, ulong list_at, __global const uchar *counter,\n"
    "                            ulong counter_at, __global const uint *was, uint part, ulong bytes, ulong step,\n"
    "                            ulong unit, ulong limit, uint word, ulong items)\n"
    "{\n"
    "    uint counted = *(__global const uint *)(counter + counter_at), begin = part ? 0 : *was;\n"
    "    ulong base = begin, elements = gs_let_through(base, counted - begin, bytes, step, unit, limit);\n"
    "    if (counted < begin) {\n"
    "        base = 0;\n"
    "        elements = bytes / unit;\n"
    "    }\n"
    "    ulong all = elements * unit, left = all > from ? min(all - from, most) : 0;\n"
    "    if (get_global_id(0) == 0) {\n"
    "        __global ulong *head = (__global ulong *)(meeting + meeting_at);\n"
    "        head[0] = base;\n"
    "        head[1] = elements;\n"
    "        head[2] = counted;\n"
    "    }\n"
    "    WITH_WORDS(LEAVE)\n"
    "}\n"
    "#define TAKE(T) \\\n"
    "    { \\\n"
    "        __global T *to = (__global T *)(dst + at + base * unit + from); \\\n"
    "        for (ulong i = get_global_id(0), n = left / sizeof(T); i < n; i += items) \\\n"
    "            to[i] = *(__global const T *)(meeting + gs_list_wrap(meeting_at + 256 + i * sizeof(T), end)); \\\n"
    "    }\n"
    "__kernel void gs_list_take(__global uchar *dst, ulong at, ulong bytes, __global const uchar *meeting,\n"
    "                           ulong meeting_at, ulong end, ulong from, ulong most, __global uint *bases, uint part,\n"
    "                           ulong step, ulong unit, ulong limit, uint word, ulong items)\n"
    "{\n"
    "    __global const ulong *head = (__global const ulong *)(meeting + meeting_at);\n"
    "    ulong base = head[0], elements = head[1];\n"
    "    uint counted = (uint)head[2];\n"
    "    if (part) {\n"
    "        base = bases[part];\n"
    "        elements = gs_let_through(base, counted, bytes, step, unit, limit);\n"
    "    }\n"
    "    ulong all = elements * unit, left = all > from ? min(all - from, most) : 0;\n"
    "    if (get_global_id(0) == 0)\n"
    "        bases[part + 1] = part ? bases[part] + counted : counted;\n"
    "    WITH_WORDS(TAKE)\n"
    "}\n";

_Static_assert(GS_LIST_HEAD_BYTES == 256, "the kernels above");

static struct gs_list_piece let_through(const struct gs_list_shape *s, uint64_t base, uint32_t counted)
{
    const uint64_t step = s->step, most = s->bytes / s->unit;
    uint64_t taken = counted / step, room = base < s->limit ? (s->limit - base - 1) / step + 1 : 0;
    taken = taken < room ? taken : room;
    room = base < most ? (most - base) / step : 0;
    taken = taken < room ? taken : room;
    return (struct gs_list_piece){base, taken * step};
}

struct gs_list_piece gs_list_first_piece(const struct gs_list_shape *s, uint32_t was, uint32_t counted)
{
    if (counted < was)
        return (struct gs_list_piece){0, s->bytes / s->unit};
    return let_through(s, was, counted - was);
}

struct gs_list_piece gs_list_next_piece(const struct gs_list_shape *s, uint32_t base, uint32_t counted)
{
    return let_through(s, base, counted);
}

#define ARG(v)                                                                                                         \
    {                                                                                                                  \
        sizeof(v), &(v), _Generic((v), cl_mem : true, default : false)                                                 \
    }
#define ARGS(...)                                                                                                      \
    (const struct gs_put_arg[]){__VA_ARGS__},                                                                          \
        sizeof((const struct gs_put_arg[]){__VA_ARGS__}) / sizeof(struct gs_put_arg)

static cl_int run(cl_command_queue queue, cl_kernel k, uint64_t items, const struct gs_put_arg *args, cl_uint n_args,
                  const struct gs_events *wait, struct gs_events *done)
{
    cl_event event;
    const cl_int err = gs_put_kernel(queue, k, args, n_args, items, LOCAL, wait->n, wait->v, &event);
    return err ? err : gs_events_add(done, event);
}

/* The arguments that say what is appended, in the width that the kernels take them. */
struct shape {
    cl_ulong bytes, step, unit, limit, items;
    cl_uint word;
};

/* For at most so many bytes of the list. */
static struct shape shape_of(const struct gs_context *ctx, const struct gs_list_shape *s, uint64_t list_at,
                             uint64_t bytes)
{
    const uint64_t most = ctx->shared_memory ? MOST_ON_CPU : MOST_ITEMS;
    struct shape k = {.bytes = s->bytes, .step = s->step, .unit = s->unit, .word = 16};
    k.limit = s->limit < 1ull << 33 ? s->limit : 1ull << 33; /* so that no sum of it wraps around */
    while (k.unit % k.word || s->at % k.word || list_at % k.word)
        k.word /= 2;
    const uint64_t words = bytes / k.word, whole = words / LOCAL * LOCAL + LOCAL;
    k.items = whole < most ? whole : most;
    return k;
}

cl_int gs_enqueue_append(struct gs_context *ctx, unsigned place, cl_command_queue queue, const struct gs_list_shape *s,
                         unsigned part, cl_mem dst, cl_mem list, uint64_t list_at, cl_mem counts,
                         const struct gs_events *wait, struct gs_events *done)
{
    const struct shape k = shape_of(ctx, s, list_at, s->bytes);
    const cl_uint number = part;
    return run(queue, gs_list_kernel(ctx, place, GS_LIST_APPEND), k.items,
               ARGS(ARG(dst), ARG(s->at), ARG(k.bytes), ARG(list), ARG(list_at), ARG(counts), ARG(number), ARG(k.step),
                    ARG(k.unit), ARG(k.limit), ARG(k.word), ARG(k.items)),
               wait, done);
}

cl_int gs_enqueue_list_leave(struct gs_context *ctx, unsigned place, cl_command_queue queue,
                             const struct gs_list_shape *s, unsigned part, const struct gs_list_meeting *m, cl_mem list,
                             uint64_t list_at, cl_mem counter, uint64_t counter_at, cl_mem was,
                             const struct gs_events *wait, struct gs_events *done)
{
    const struct shape k = shape_of(ctx, s, list_at, m->most);
    const cl_uint number = part;
    cl_mem before = part ? counter : was; /* a buffer all the same */
    return run(queue, gs_list_kernel(ctx, place, GS_LIST_LEAVE), k.items,
               ARGS(ARG(m->mem), ARG(m->at), ARG(m->end), ARG(m->from), ARG(m->most), ARG(list), ARG(list_at),
                    ARG(counter), ARG(counter_at), ARG(before), ARG(number), ARG(k.bytes), ARG(k.step), ARG(k.unit),
                    ARG(k.limit), ARG(k.word), ARG(k.items)),
               wait, done);
}

cl_int gs_enqueue_list_take(struct gs_context *ctx, unsigned place, cl_command_queue queue,
                            const struct gs_list_shape *s, unsigned part, const struct gs_list_meeting *m, cl_mem dst,
                            cl_mem bases, const struct gs_events *wait, struct gs_events *done)
{
    const struct shape k = shape_of(ctx, s, 0, m->most);
    const cl_uint number = part;
    return run(queue, gs_list_kernel(ctx, place, GS_LIST_TAKE), k.items,
               ARGS(ARG(dst), ARG(s->at), ARG(k.bytes), ARG(m->mem), ARG(m->at), ARG(m->end), ARG(m->from),
                    ARG(m->most), ARG(bases), ARG(number), ARG(k.step), ARG(k.unit), ARG(k.limit), ARG(k.word),
                    ARG(k.items)),
               wait, done);
}
