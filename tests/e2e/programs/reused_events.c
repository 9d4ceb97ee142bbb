/* SPDX-License-Identifier: MIT */
/* What is asked of an event is answered of it, though its handle has just been another event's, which is being let go:
 * over the layer event_ends.c. */
#include "plain.h"

enum { ITEMS = 1 << 14, LAUNCHES = 20 };

static const char source[] = "__kernel void add(__global uint *v) { v[get_global_id(0)] += get_global_id(0); }\n";

static cl_event expected; /* the event that the program is letting go */
static unsigned reused, wrong;

__attribute__((visibility("default"))) void has_released(cl_event event);
void has_released(cl_event event)
{
    enum { MARKERS = 64 };
    cl_event marker[MARKERS];
    if (event != expected)
        return;
    expected = NULL;
    for (int i = 0; i < MARKERS; i++) {
        cl_command_type type = 0;
        CL(clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker[i]));
        CL(clGetEventInfo(marker[i], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
        reused += marker[i] == event;
        wrong += type != CL_COMMAND_MARKER;
    }
    RELEASE_ALL(marker);
}

int main(void)
{
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "add");
    cl_mem m = buffer(CL_MEM_READ_WRITE, ITEMS * 4, NULL);
    set_mem(k, 0, m);
    for (int i = 0; i < LAUNCHES; i++) {
        cl_event e;
        launch(queue, k, ITEMS, 64, 0, NULL, &e);
        CL(clFinish(queue));
        launch(queue, k, ITEMS, 64, 0, NULL, NULL);
        CL(clFinish(queue));
        expected = e;
        CL(clReleaseEvent(e));
    }
    printf("%u handles were used again, %u markers had another's type\n", reused, wrong);
    RELEASE(m, k, p);
    finish();
    return wrong != 0;
}
