/* SPDX-License-Identifier: MIT */
/* longer finish|events: rows of short launches, whose second argument says how long each takes (FAKE_ROUNDS), and
 * a wait for each row: by clFinish, or for an event of its last one. From the middle on they take 200 times as long.
 * Asks for the platform's profile before each row, by which a driver's log can tell them apart. */
#include "plain.h"

enum { ITEMS = 64, LAUNCHES = 100, ROWS = 30, LONGER = 200 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

static void row(cl_kernel k, int n, cl_uint rounds, bool waits_for_event)
{
    char text[64];
    cl_event last = NULL;
    CL(clGetPlatformInfo(platform, CL_PLATFORM_PROFILE, sizeof text, text, NULL));
    set_uint(k, 1, rounds);
    for (int i = 0; i < n; i++)
        launch(queue, k, ITEMS, ITEMS, 0, NULL, waits_for_event && i == n - 1 ? &last : NULL);
    if (last) {
        CL(clWaitForEvents(1, &last));
        CL(clReleaseEvent(last));
    } else {
        CL(clFinish(queue));
    }
}

int main(int argc, char **argv)
{
    const bool events = argc > 1 && strcmp(argv[1], "events") == 0;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem m = buffer(CL_MEM_READ_WRITE, ITEMS * 4, NULL);
    set_mem(k, 0, m);
    for (int i = 0; i < ROWS; i++)
        row(k, LAUNCHES, 1, events);
    for (int i = 0; i < ROWS; i++)
        row(k, LAUNCHES, LONGER, events);
    CL(clReleaseMemObject(m));
    CL(clReleaseKernel(k));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
