/* SPDX-License-Identifier: MIT */
/* longer finish|events|apart: rows of short launches, whose second argument says how long each takes (FAKE_ROUNDS), and
 * a wait for each row: by clFinish, or for an event of its last one. From the middle on they take 200 times as long.
 * apart: 700 times, and that is learnt by some that are waited for one by one, right after a row that waited for a user
 * event. Asks for the platform's profile before each row, by which a driver's log can tell them apart. */
#include "plain.h"

enum { ITEMS = 64, LAUNCHES = 100, ROWS = 30, LONGER = 200, MUCH_LONGER = 700, ONE_BY_ONE = 20, APART_ROWS = 80 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

static void row(cl_kernel k, int n, cl_uint rounds, cl_event after, bool waits_for_event)
{
    char text[64];
    cl_event last = NULL;
    CL(clGetPlatformInfo(platform, CL_PLATFORM_PROFILE, sizeof text, text, NULL));
    set_uint(k, 1, rounds);
    for (int i = 0; i < n; i++)
        launch(queue, k, ITEMS, ITEMS, !i && after, !i && after ? &after : NULL,
               waits_for_event && i == n - 1 ? &last : NULL);
    if (after)
        CL(clSetUserEventStatus(after, CL_COMPLETE));
    if (last) {
        CL(clWaitForEvents(1, &last));
        CL(clReleaseEvent(last));
    } else {
        CL(clFinish(queue));
    }
}

int main(int argc, char **argv)
{
    const bool events = argc > 1 && strcmp(argv[1], "events") == 0, apart = argc > 1 && strcmp(argv[1], "apart") == 0;
    cl_int err;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem m = buffer(CL_MEM_READ_WRITE, ITEMS * 4, NULL);
    set_mem(k, 0, m);
    for (int i = 0; i < ROWS; i++)
        row(k, LAUNCHES, 1, NULL, events);
    if (apart) {
        cl_event go;
        MADE(go, clCreateUserEvent(context, &err));
        row(k, 3 * LAUNCHES, 1, go, false);
        CL(clReleaseEvent(go));
        for (int i = 0; i < ONE_BY_ONE; i++)
            row(k, 1, MUCH_LONGER, NULL, true);
        for (int i = 0; i < APART_ROWS; i++)
            row(k, 10, MUCH_LONGER, NULL, false);
    }
    for (int i = 0; i < ROWS && !apart; i++)
        row(k, LAUNCHES, LONGER, NULL, events);
    CL(clReleaseMemObject(m));
    CL(clReleaseKernel(k));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
