/* SPDX-License-Identifier: MIT */
/* Every work-item built-in, in one to three dimensions, with offsets, odd sizes, NULL local sizes, in helpers and
 * macros and for a dimension that is no literal. */
#include "plain.h"

enum { MOST = 1 << 16 };

static const char source[] =
    "#define SIZE(d) get_global_size(d)\n"
    "size_t of(int what, uint d)\n"
    "{ switch (what) { case 0: return get_global_id(d); case 1: return get_local_id(d); case 2: return "
    "get_group_id(d);\n"
    "  case 3: return SIZE(d); case 4: return get_local_size(d); case 5: return get_num_groups(d);\n"
    "  case 6: return get_global_offset(d); default: return get_work_dim(); } }\n"
    "size_t through(int what, uint d) { return of(what, d); }\n"
    "__kernel void everything(__global uint *out, uint dims)\n"
    "{ size_t at = 0; uint h = 17;\n"
    "  for (int d = 2; d >= 0; d--)\n"
    "    at = at * get_global_size(d) + get_global_id(d) - get_global_offset(d);\n"
    "  for (uint d = 0; d < 3; d++) for (int w = 0; w < 8; w++) h = h * 31u + (uint)through(w, d);\n"
    "  out[at] = h * dims; }\n"
    "__kernel void ids(__global uint *out)\n"
    "{ size_t at = 0; for (int d = 2; d >= 0; d--) at = at * get_global_size(d) + get_global_id(d) - "
    "get_global_offset(d);\n"
    "  out[at] += (uint)(get_global_id(0) * 3 + get_global_id(1) * 5 + get_global_id(2) * 7); }\n"
    "__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void fixed(__global uint *out)\n"
    "{ out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = (uint)(get_group_id(1) * 100 + get_group_id(0)) "
    "^\n"
    "  (uint)(get_num_groups(1) << 16); }\n"
    "__kernel void tile(__global const uint *in, __global uint *out, __local uint *t)\n"
    "{ uint l = get_local_id(0), n = get_local_size(0); t[l] = in[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[get_global_id(0)] = t[n - 1 - l] + (uint)get_group_id(0); }\n";

static uint32_t host[MOST];

struct shape {
    cl_uint dims;
    size_t offset[3], global[3], local[3];
};

static const struct shape shapes[] = {
    {1, {0}, {4096}, {64}},
    {1, {0}, {5000}, {50}},
    {1, {17}, {1003}, {17}},
    {1, {0}, {7}, {1}},
    {1, {0}, {997}, {997}},
    {2, {0}, {64, 48}, {8, 8}},
    {2, {5, 9}, {63, 35}, {7, 5}},
    {2, {0}, {1, 300}, {1, 3}},
    {2, {3, 0}, {300, 1}, {4, 1}},
    {3, {0}, {16, 12, 10}, {4, 3, 2}},
    {3, {1, 2, 3}, {9, 15, 21}, {3, 5, 7}},
    {3, {0}, {2, 2, 5}, {1, 2, 1}},
};

static void launch_shape(cl_kernel k, const struct shape *s, bool with_local, cl_mem out, const char *name)
{
    size_t items = 1;
    for (cl_uint d = 0; d < s->dims; d++)
        items *= s->global[d];
    CL(clEnqueueNDRangeKernel(queue, k, s->dims, s->offset[0] + s->offset[1] ? s->offset : NULL, s->global,
                              with_local ? s->local : NULL, 0, NULL, NULL));
    show_buffer(name, queue, out, 0, items * 4);
}

/* PoCL from 4.0 on ends by a division where a local size is nought. */
static bool divides_by_it(void)
{
    char version[256] = "";
    int major = 0;
    CL(clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL));
    const char *pocl = strstr(version, "PoCL ");
    return pocl && sscanf(pocl, "PoCL %d", &major) == 1 && major >= 4;
}

int main(void)
{
    start(0);
    cl_program p = build(source, "");
    cl_kernel all = kernel_of(p, "everything"), ids = kernel_of(p, "ids"), fixed = kernel_of(p, "fixed"),
              tile = kernel_of(p, "tile");
    cl_mem out = buffer_of(host, sizeof host), in;
    fill_words(host, MOST, 12);
    in = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof host, host);
    set_mem(all, 0, out);
    set_mem(ids, 0, out);
    set_mem(fixed, 0, out);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        set_uint(all, 1, (cl_uint)i + 1);
        launch_shape(all, &shapes[i], true, out, "everything");
        launch_shape(ids, &shapes[i], true, out, "ids");
        launch_shape(ids, &shapes[i], false, out, "ids, no local size");
    }
    const struct shape of_fixed = {2, {0}, {64, 20}, {8, 4}};
    launch_shape(fixed, &of_fixed, true, out, "fixed");
    SET(tile, in, out);
    for (size_t local = 1; local <= 128; local *= 2) {
        const struct shape s = {1, {0}, {local * 37}, {local}};
        CL(clSetKernelArg(tile, 2, local * 4, NULL));
        launch_shape(tile, &s, true, out, "tile");
    }
    /* Refused by the driver, and nothing of it done. */
    const size_t global = 1001, local = 100, zero = 0, huge = (size_t)1 << 40;
    show_buffer("before", queue, out, 0, sizeof host);
    printf("not a multiple: %d\n", clEnqueueNDRangeKernel(queue, ids, 1, NULL, &global, &local, 0, NULL, NULL));
    if (!divides_by_it())
        printf("local of nought: %d\n", clEnqueueNDRangeKernel(queue, ids, 1, NULL, &global, &zero, 0, NULL, NULL));
    printf("huge local: %d\n", clEnqueueNDRangeKernel(queue, ids, 1, NULL, &huge, &huge, 0, NULL, NULL));
    printf("no dimension: %d\n", clEnqueueNDRangeKernel(queue, ids, 0, NULL, &global, NULL, 0, NULL, NULL));
    printf("four dimensions: %d\n", clEnqueueNDRangeKernel(queue, ids, 4, NULL, &global, NULL, 0, NULL, NULL));
    printf("no size: %d\n", clEnqueueNDRangeKernel(queue, ids, 1, NULL, NULL, NULL, 0, NULL, NULL));
    printf("wrong local size: %d\n",
           clEnqueueNDRangeKernel(queue, fixed, 2, NULL, (size_t[2]){64, 20}, (size_t[2]){4, 4}, 0, NULL, NULL));
    cl_kernel unset = kernel_of(p, "tile");
    printf("arguments missing: %d\n", clEnqueueNDRangeKernel(queue, unset, 1, NULL, &local, NULL, 0, NULL, NULL));
    CL(clFinish(queue));
    show_buffer("after", queue, out, 0, sizeof host);
    CL(clEnqueueTask(queue, ids, 0, NULL, NULL));
    show_buffer("task", queue, out, 0, sizeof host);
    return FINISH(unset, all, ids, fixed, tile, in, out, p);
}
