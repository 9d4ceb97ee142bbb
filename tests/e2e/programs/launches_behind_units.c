/* SPDX-License-Identifier: MIT */
/* launches_behind_units: a launch that is several units under a daemon, two short ones right behind it, of which nobody
 * has an event, and a read. The long one begins once the short ones are enqueued. Nothing waits but by asking for the
 * state of the long one's event, and of the read's. Then it says so, and waits for a line of standard input. */
#include "plain.h"

enum { LOCAL = 64, SHORT = 128, LONG = 1024, ROUNDS = 300000 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0), x = v[i];\n"
                             "  for (uint n = 0; n < k; n++) x = x * 1664525u + n;\n"
                             "  v[i] = x; }\n";

static cl_int enqueue(cl_kernel k, size_t items, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    static const size_t local = LOCAL;
    return clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, &local, n_wait, wait, event);
}

static void ask_until_ended(cl_event e)
{
    cl_int state = CL_QUEUED;
    while (state > CL_COMPLETE) {
        CL(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL));
        usleep(1000);
    }
    RELEASE(e);
}

int main(void)
{
    uint32_t v[LONG] = {1}, sum = 0;
    char line[64];
    cl_event begin, ran, read;
    cl_int err;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem m = buffer_of(v, sizeof v);
    SET(k, m, 1);
    for (int i = 0; i < 20; i++) { /* a daemon learns how short they are */
        CL(enqueue(k, SHORT, 0, NULL, NULL));
        CL(clFinish(queue));
    }
    MADE(begin, clCreateUserEvent(context, &err));
    set_uint(k, 1, ROUNDS);
    err = enqueue(k, LONG, 1, &begin, &ran);
    set_uint(k, 1, 2);
    for (int i = 0; i < 2 && !err; i++)
        err = enqueue(k, SHORT, 0, NULL, NULL);
    CL(clSetUserEventStatus(begin, CL_COMPLETE)); /* whatever has been enqueued */
    check(err, "clEnqueueNDRangeKernel", __LINE__);
    CL(clFlush(queue));
    ask_until_ended(ran);
    CL(clEnqueueReadBuffer(queue, m, CL_FALSE, 0, sizeof v, v, 0, NULL, &read));
    CL(clFlush(queue));
    ask_until_ended(read);
    puts("waits");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        return 1;
    for (int i = 0; i < LONG; i++)
        sum = sum * 31 + v[i];
    printf("%u\n", sum);
    return FINISH(begin, m, k, p);
}
