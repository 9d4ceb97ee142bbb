/* SPDX-License-Identifier: MIT */
/* Jobs of which a part has ended and been read, while more is under way and more is to come: `read_amid_job TIMES
 * queues` waits for a read in another queue in the middle, `read_amid_job TIMES events` for the event of one in the
 * same queue, and `read_amid_job TIMES twice` twice for that. Each of the TIMES ends as job_rows.c's rows do: it is one
 * job, unless what is behind the wait has ended as well when the application goes on, as on a busy machine: then there
 * may be two. How often that was it asks the fake driver, and prints it. */
#include "plain.h"

enum { LOCAL = 64, ITEMS = 2048, LAUNCHES = 3, MUCH = 10 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

static void launches(cl_kernel k)
{
    for (cl_uint i = 0; i < LAUNCHES; i++) {
        set_uint(k, 1, i);
        launch(queue, k, ITEMS, LOCAL, 0, NULL, NULL);
    }
}

static bool is_idle(void)
{
    char profile[64] = "";
    CL(clGetPlatformInfo(platform, CL_PLATFORM_PROFILE, sizeof profile, profile, NULL));
    return strcmp(profile, "idle") == 0;
}

int main(int argc, char **argv)
{
    long idle = 0;
    uint32_t v[ITEMS] = {1}, part[16];
    start(0);
    const bool twice = argc > 2 && strcmp(argv[2], "twice") == 0,
               by_event = twice || (argc > 2 && strcmp(argv[2], "events") == 0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem m = buffer(CL_MEM_READ_WRITE, sizeof v, NULL), other = buffer(CL_MEM_COPY_HOST_PTR, sizeof v, v);
    cl_int err;
    cl_command_queue second = clCreateCommandQueue(context, device, 0, &err);
    CL(err);
    set_mem(k, 0, m);
    for (long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1; n > 0; n--) {
        CL(clEnqueueWriteBuffer(queue, m, CL_FALSE, 0, sizeof v, v, 0, NULL, NULL));
        launches(k);
        if (by_event) {
            cl_event got;
            CL(clEnqueueReadBuffer(queue, m, CL_FALSE, 0, sizeof part, part, 0, NULL, &got));
            for (int i = 0; i < MUCH; i++)
                launches(k);
            for (int i = 0; i < (twice ? 2 : 1); i++)
                CL(clWaitForEvents(1, &got));
            CL(clReleaseEvent(got));
        } else {
            for (int i = 0; i < MUCH; i++)
                launches(k);
            CL(clEnqueueReadBuffer(second, other, CL_TRUE, 0, sizeof part, part, 0, NULL, NULL));
        }
        idle += is_idle();
        launches(k);
        CL(clFinish(queue));
        CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof v, v, 0, NULL, NULL));
    }
    printf("%ld\n", idle);
    return FINISH(second, other, m, k, p);
}
