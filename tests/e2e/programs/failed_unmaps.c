/* SPDX-License-Identifier: MIT */
/* failed_unmaps: an unmap behind an event that has failed isn't carried out, over the layer failed_lists.c: the buffer
 * is mapped until the next one. */
#include "plain.h"

enum { BYTES = 65536 };

static void count(const char *when, cl_mem m)
{
    cl_uint maps;
    CL(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof maps, &maps, NULL));
    printf("%s: mapped %u times\n", when, maps);
}

int main(void)
{
    cl_int err, status = CL_COMPLETE;
    cl_event failed, event;
    cl_command_queue other;
    static uint32_t host[BYTES / 4];
    void *v;
    start(0);
    MADE(other, clCreateCommandQueue(context, device, 0, &err)); /* what comes after a failure is the driver's affair */
    MADE(failed, clCreateUserEvent(context, &err));
    CL(clSetUserEventStatus(failed, -7));
    cl_mem m = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, BYTES, host);
    MADE(v, clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, BYTES, 0, NULL, NULL, &err));
    memset(v, 5, BYTES);
    count("before", m);
    CL(clEnqueueUnmapMemObject(other, m, v, 1, &failed, &event));
    clWaitForEvents(1, &event);
    CL(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    count(status < 0 ? "an unmap that has failed" : "an unmap", m);
    CL(clReleaseEvent(event));
    CL(clEnqueueUnmapMemObject(queue, m, v, 0, NULL, NULL));
    CL(clFinish(queue));
    count("the next", m);
    show_buffer("bytes", queue, m, 0, BYTES);
    RELEASE(failed, m, other);
    finish();
    return 0;
}
