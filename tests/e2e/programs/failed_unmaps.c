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
    cl_int status = CL_COMPLETE;
    cl_event event;
    static uint32_t host[BYTES / 4];
    start(0);
    cl_command_queue other = new_queue(0); /* what comes after a failure is the driver's affair */
    cl_event failed = new_user_event();
    CL(clSetUserEventStatus(failed, -7));
    cl_mem m = buffer_of(host, BYTES);
    void *v = map_now(m, CL_MAP_READ | CL_MAP_WRITE, 0, BYTES);
    memset(v, 5, BYTES);
    count("before", m);
    CL(clEnqueueUnmapMemObject(other, m, v, 1, &failed, &event));
    clWaitForEvents(1, &event);
    CL(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    count(status < 0 ? "an unmap that has failed" : "an unmap", m);
    CL(clReleaseEvent(event));
    unmap(m, v);
    CL(clFinish(queue));
    count("the next", m);
    show_buffer("bytes", queue, m, 0, BYTES);
    return FINISH(failed, m, other);
}
