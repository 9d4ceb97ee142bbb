/* SPDX-License-Identifier: MIT */
/* failed_waits: commands that would change all of a buffer, each behind an event that has failed already, over the
 * layer failed_lists.c. None of them is carried out, and what a launch has written before is still there. */
#include "plain.h"

enum { WORDS = 16384, BYTES = WORDS * 4 };

static const char source[] = "__kernel void fill(__global uint *v, uint k) { v[get_global_id(0)] = k; }\n";

static cl_kernel fill;
static cl_mem words, others;
static cl_event failed;
static uint32_t host[WORDS];

enum way { WRITE, WRITE_LATER, FILL, COPY, LAUNCH, WAYS };
static const char *const names[WAYS] = {"write", "write that doesn't block", "fill", "copy", "launch"};

static cl_int change(cl_command_queue q, enum way way, cl_event *event)
{
    const uint32_t pattern = 3;
    const size_t all = WORDS;
    switch (way) {
    case WRITE:
        return clEnqueueWriteBuffer(q, words, CL_TRUE, 0, BYTES, host, 1, &failed, NULL);
    case WRITE_LATER:
        return clEnqueueWriteBuffer(q, words, CL_FALSE, 0, BYTES, host, 1, &failed, event);
    case FILL:
        return clEnqueueFillBuffer(q, words, &pattern, sizeof pattern, 0, BYTES, 1, &failed, event);
    case COPY:
        return clEnqueueCopyBuffer(q, others, words, 0, 0, BYTES, 1, &failed, event);
    default:
        return clEnqueueNDRangeKernel(q, fill, 1, NULL, &all, NULL, 1, &failed, event);
    }
}

static bool are(uint32_t value)
{
    for (size_t i = 0; i < WORDS; i++)
        if (host[i] != value)
            return false;
    return true;
}

int main(void)
{
    cl_int err;
    start(0);
    cl_program p = build(source, "");
    fill = kernel_of(p, "fill");
    words = buffer_of(host, BYTES);
    others = buffer_of(host, BYTES);
    failed = new_user_event();
    CL(clSetUserEventStatus(failed, -7));
    for (enum way way = 0; way < WAYS; way++) {
        cl_command_queue q; /* what comes after the failure in its queue is the driver's own affair */
        cl_event event = NULL;
        cl_int status = CL_QUEUED;
        q = new_queue(0);
        SET(fill, others, 100 + way);
        launch(queue, fill, WORDS, 64, 0, NULL, NULL);
        SET(fill, words, 200 + way);
        launch(queue, fill, WORDS, 64, 0, NULL, NULL);
        CL(clFinish(queue));
        set_uint(fill, 1, 300 + way);
        for (size_t i = 0; i < WORDS; i++)
            host[i] = 400 + way;
        err = change(q, way, &event);
        if (event) {
            clWaitForEvents(1, &event);
            CL(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        }
        err = err ? err : status;
        CL(clEnqueueReadBuffer(queue, words, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
        printf("%s: %s, the bytes are %s\n", names[way], err < 0 ? "it fails" : "it is carried out",
               are(200 + way) ? "of before" : "OTHERS");
        fflush(stdout);
        if (event)
            CL(clReleaseEvent(event));
        CL(clReleaseCommandQueue(q));
    }
    return FINISH(failed, words, others, fill, p);
}
