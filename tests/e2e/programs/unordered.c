/* SPDX-License-Identifier: MIT */
/* unordered ORDER: two writes of the same bytes in two queues. The order is none, or by a wait list, by the host's
 * wait, or by a user event that a callback sets. For graph.sh. */
#include "plain.h"

static void CL_CALLBACK set_other(cl_event event, cl_int status, void *other)
{
    CL(clSetUserEventStatus(other, status));
}

int main(int argc, char **argv)
{
    static const int a = 1, b = 2;
    cl_event first, second, event = NULL;
    const char *order = argc > 1 ? argv[1] : "none";
    start(0);
    cl_command_queue other = new_queue(0);
    cl_mem mem = buffer(CL_MEM_READ_WRITE, sizeof a, NULL);
    CL(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, sizeof a, &a, 0, NULL, &first));
    if (strcmp(order, "list") == 0)
        event = first;
    if (strcmp(order, "wait") == 0)
        CL(clWaitForEvents(1, &first));
    if (strcmp(order, "callback") == 0) {
        event = new_user_event();
        CL(clSetEventCallback(first, CL_COMPLETE, set_other, event));
    }
    CL(clEnqueueWriteBuffer(other, mem, CL_FALSE, 0, sizeof b, &b, event != NULL, event ? &event : NULL, &second));
    CL(clWaitForEvents(1, &second));
    CL(clWaitForEvents(1, &first));
    printf("done\n");
    return 0;
}
