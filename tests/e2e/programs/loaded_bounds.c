/* SPDX-License-Identifier: MIT */
/* loaded_bounds [repeat]: kernels whose loops run from first[i] to first[i + 1] and that read or write at indices which
 * another buffer holds, while that buffer changes in every way between two launches: what a launch reads depends on
 * what its bounds are when it begins. With `repeat`, only launches between which nothing changes. */
#include "plain.h"

enum { ROWS = 20000, VALUES = 400000, GROUP = 50 };

static const char source[] =
    "#define GATHER(NAME, T) \\\n"
    "__kernel void NAME(__global uint *out, __global const T *first, __global const uint *value, uint rows) \\\n"
    "{ \\\n"
    "    size_t row = get_global_id(0); \\\n"
    "    uint sum = 1; \\\n"
    "    if (row < rows) \\\n"
    "        for (T e = first[row]; e < first[row + 1]; e++) \\\n"
    "            sum = sum * 31u + value[e]; \\\n"
    "    out[row] = sum; \\\n"
    "}\n"
    "GATHER(gather, uint)\n"
    "GATHER(gather_int, int)\n"
    "GATHER(gather_long, long)\n"
    "GATHER(gather_short, ushort)\n"
    "__kernel void around(__global uint *out, __global const char *step, __global const uint *value)\n"
    "{ int i = get_global_id(0); out[i] = value[(step[i] + 200) * 1000]; }\n"
    "__kernel void mirror(__global uint *first, uint rows)\n"
    "{ size_t i = get_global_id(0); if (i <= rows) first[i] = i * 17u; }\n"
    "__kernel void scatter(__global uint *out, __global const uint *place)\n"
    "{ uint i = get_global_id(0); out[place[i]] = i * 3u + 1u; }\n"
    "__kernel void both(__global uint *out, __global const uint *first, __global const uint *value)\n"
    "{ size_t i = get_global_id(0); out[i] = value[first[i]] % 400000u; }\n";

static cl_program program;
static cl_mem value, out, first;
static uint32_t *words;

static void rising(uint32_t *v, uint32_t from, uint32_t most)
{
    for (uint32_t i = 0; i <= ROWS; i++) {
        v[i] = from;
        from += scramble(i + most) % most;
    }
}

/* Launches and shows what came of it, and forgets it on the devices. */
static void gather(const char *name, const char *kernel, cl_mem of, uint32_t rows, cl_uint n_wait, const cl_event *wait)
{
    cl_kernel k = kernel_of(program, kernel);
    SET(k, out, of, value, rows);
    launch(queue, k, ROWS, GROUP, n_wait, wait, NULL);
    show_buffer(name, queue, out, 0, ROWS * sizeof(cl_uint));
    CL(clReleaseKernel(k));
}

/* All of it new, so that no device but the first has any. */
static void renew_values(uint32_t seed)
{
    fill_words(words, VALUES, seed);
    CL(clEnqueueWriteBuffer(queue, value, CL_TRUE, 0, VALUES * sizeof *words, words, 0, NULL, NULL));
}

static void write_first(cl_bool blocking, uint32_t from, uint32_t most)
{
    static uint32_t v[ROWS + 1];
    if (!blocking)
        CL(clFinish(queue)); /* the last write has been taken from v */
    rising(v, from, most);
    CL(clEnqueueWriteBuffer(queue, first, blocking, 0, sizeof v, v, 0, NULL, NULL));
}

static void repeat(void)
{
    write_first(CL_FALSE, 5, 30);
    for (uint32_t i = 0; i < 6; i++)
        gather("repeated", "gather", first, ROWS, 0, NULL);
}

static void by_writes(void)
{
    static const uint32_t from[] = {0, 100000, 7, 390000};
    for (uint32_t i = 0; i < 4; i++) {
        write_first(i & 1, from[i], i == 3 ? 1 : 15);
        renew_values(i);
        gather("written", "gather", first, ROWS, 0, NULL);
    }
    const cl_uint end = VALUES, begin = 3;
    for (uint32_t i = 0; i < 3; i++) { /* one word alone */
        CL(clEnqueueWriteBuffer(queue, first, CL_FALSE, 4 * (4000 + i * 6000), 4, i == 1 ? &begin : &end, 0, NULL,
                                NULL));
        renew_values(i + 10);
        gather("one word", "gather", first, ROWS, 0, NULL);
    }
    const cl_uint none = 77;
    CL(clEnqueueFillBuffer(queue, first, &none, 4, 0, 4 * (ROWS + 1), 0, NULL, NULL));
    gather("filled", "gather", first, ROWS, 0, NULL);
}

static void by_kernel(void)
{
    cl_kernel k = kernel_of(program, "mirror");
    for (uint32_t i = 0; i < 3; i++) {
        SET(k, first, ROWS);
        renew_values(i + 20);
        write_first(CL_TRUE, 9, 4);
        launch(queue, k, ROWS + GROUP, GROUP, 0, NULL, NULL);
        gather("by a kernel", "gather", first, ROWS, 0, NULL);
        gather("by a kernel", "gather", first, ROWS, 0, NULL);
    }
    CL(clReleaseKernel(k));
}

static void by_copy_and_map(void)
{
    static uint32_t v[ROWS + 1];
    rising(v, 1000, 9);
    cl_mem other = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof v, v);
    renew_values(30);
    CL(clEnqueueCopyBuffer(queue, other, first, 0, 0, sizeof v, 0, NULL, NULL));
    gather("copied", "gather", first, ROWS, 0, NULL);
    gather("made with contents", "gather_int", other, ROWS, 0, NULL);
    uint32_t *at = map_now(first, CL_MAP_WRITE, 0, sizeof v);
    rising(at, 200000, 8);
    unmap(first, at);
    renew_values(31);
    gather("mapped", "gather", first, ROWS, 0, NULL);
    at = map_now(first, CL_MAP_READ | CL_MAP_WRITE, 4 * 1024, 4 * 1024);
    for (uint32_t i = 0; i < 1024; i++)
        at[i] = 4 * i;
    unmap(first, at);
    renew_values(32);
    gather("mapped in part", "gather", first, ROWS, 0, NULL);
    CL(clReleaseMemObject(other));
}

/* Another window of what is written; and a buffer that is never written behind its middle. */
static void by_window(void)
{
    cl_mem large = buffer(CL_MEM_READ_WRITE, 4096 + (ROWS + 1) * 4 + 4096, NULL),
           window = sub_buffer(large, CL_MEM_READ_WRITE, 4096, (ROWS + 1) * 4);
    static uint32_t v[ROWS + 1];
    rising(v, 50, 10);
    CL(clEnqueueWriteBuffer(queue, large, CL_TRUE, 4096, sizeof v, v, 0, NULL, NULL));
    renew_values(40);
    gather("a window", "gather", window, ROWS, 0, NULL);
    rising(v, 150000, 10);
    CL(clEnqueueWriteBuffer(queue, large, CL_TRUE, 4096, sizeof v, v, 0, NULL, NULL));
    renew_values(41);
    gather("a window, changed", "gather", window, ROWS, 0, NULL);
    cl_mem half = buffer(CL_MEM_READ_ONLY, (ROWS + 1) * 4, NULL);
    CL(clEnqueueWriteBuffer(queue, half, CL_TRUE, 0, sizeof v / 2, v, 0, NULL, NULL));
    renew_values(42);
    gather("half written", "gather", half, ROWS / 2 - 1, 0, NULL);
    RELEASE(half, window, large);
}

/* The write waits for what the application does only after it has enqueued the launch. */
static void by_user_event(void)
{
    cl_event written;
    static uint32_t v[ROWS + 1];
    rising(v, 300000, 5);
    renew_values(50);
    cl_event go = new_user_event();
    CL(clEnqueueWriteBuffer(queue, first, CL_FALSE, 0, sizeof v, v, 1, &go, &written));
    cl_kernel k = kernel_of(program, "gather");
    SET(k, out, first, value, ROWS);
    launch(queue, k, ROWS, GROUP, 1, &written, NULL);
    CL(clFlush(queue));
    CL(clSetUserEventStatus(go, CL_COMPLETE));
    show_buffer("behind a user event", queue, out, 0, ROWS * 4);
    RELEASE(k, go, written);
}

static void by_other_queue(void)
{
    cl_event changed;
    cl_kernel k = kernel_of(program, "mirror");
    cl_command_queue other = new_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    write_first(CL_TRUE, 300000, 3);
    renew_values(60);
    SET(k, first, ROWS);
    launch(other, k, ROWS + GROUP, GROUP, 0, NULL, &changed);
    CL(clFlush(other));
    gather("by another queue", "gather", first, ROWS, 1, &changed);
    RELEASE(changed, k, other);
}

static void by_type(void)
{
    static uint64_t large[ROWS + 1];
    static uint16_t small[ROWS + 1];
    static int8_t step[ROWS];
    static uint32_t v[ROWS + 1];
    rising(v, 200000, 10);
    for (uint32_t i = 0; i <= ROWS; i++) {
        large[i] = v[i];
        small[i] = (uint16_t)(i * 3);
    }
    large[100] = (uint64_t)-5; /* row 99 is empty by it, and row 100 begins at ... */
    large[101] = (uint64_t)-9; /* ... and ends before that: it is empty too; row 101 would begin there: */
    large[102] = (uint64_t)-9;
    for (uint32_t i = 103; i <= ROWS; i++)
        large[i] = (uint64_t)-9;
    for (uint32_t i = 0; i < ROWS; i++)
        step[i] = (int8_t)(scramble(i) % 50 - (i < ROWS / 2 ? 100 : 0));
    cl_mem longs = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof large, large),
           shorts = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof small, small),
           steps = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof step, step);
    renew_values(70);
    gather("longs", "gather_long", longs, ROWS, 0, NULL);
    renew_values(71);
    gather("shorts", "gather_short", shorts, ROWS, 0, NULL);
    renew_values(72);
    cl_kernel k = kernel_of(program, "around");
    SET(k, out, steps, value);
    launch(queue, k, ROWS, GROUP, 0, NULL, NULL);
    show_buffer("signed bytes", queue, out, 0, ROWS * 4);
    RELEASE(k, longs, shorts, steps);
}

/* Written where a buffer says: each part's places by themselves, then mixed, then apart again. */
static void by_place(void)
{
    cl_kernel k = kernel_of(program, "scatter");
    cl_mem large = buffer(CL_MEM_READ_WRITE, VALUES * 4, NULL), places = buffer(CL_MEM_READ_ONLY, ROWS * 4, NULL);
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t j = 0; j < ROWS; j++)
            words[j] = i == 1 ? j * 7919 % VALUES : i == 3 ? VALUES - 1 - j * 19 : j * 19 + j % 5;
        CL(clEnqueueWriteBuffer(queue, places, CL_TRUE, 0, ROWS * 4, words, 0, NULL, NULL));
        fill_words(words, VALUES, i + 80);
        CL(clEnqueueWriteBuffer(queue, large, CL_TRUE, 0, VALUES * 4, words, 0, NULL, NULL));
        SET(k, large, places);
        launch(queue, k, ROWS, GROUP, 0, NULL, NULL);
        show_buffer("scattered", queue, large, 0, VALUES * 4);
    }
    k = (CL(clReleaseKernel(k)), kernel_of(program, "both"));
    write_first(CL_TRUE, 300000, 4);
    SET(k, first, first, value);
    for (uint32_t i = 0; i < 3; i++)
        launch(queue, k, ROWS, GROUP, 0, NULL, NULL);
    show_buffer("its own bounds", queue, first, 0, ROWS * 4);
    RELEASE(k, large, places);
}

int main(int argc, char **argv)
{
    start(0);
    program = build(source, "");
    words = malloc(VALUES * sizeof *words);
    value = buffer(CL_MEM_READ_ONLY, VALUES * sizeof *words, NULL);
    out = buffer(CL_MEM_READ_WRITE, ROWS * sizeof(cl_uint), NULL);
    first = buffer(CL_MEM_READ_WRITE, (ROWS + 1) * sizeof(cl_uint), NULL);
    renew_values(1);
    repeat();
    if (argc < 2 || strcmp(argv[1], "repeat") != 0) {
        by_writes();
        by_kernel();
        by_copy_and_map();
        by_window();
        by_user_event();
        by_other_queue();
        by_type();
        by_place();
    }
    RELEASE(value, out, first, program);
    finish();
    free(words);
    return 0;
}
