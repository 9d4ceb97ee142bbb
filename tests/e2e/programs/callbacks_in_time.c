/* SPDX-License-Identifier: MIT */
/* An application that uses what the callbacks of a command have stored once it has waited for the command: by
 * clFinish, for the event, or by a later call that blocks. No driver promises that; a tenth may be late. */
#include "plain.h"

enum { ITEMS = 1 << 14, ROUNDS = 100 };

static atomic_uint called;

static void CL_CALLBACK on_end(cl_event event, cl_int status, void *unused)
{
    (void)event;
    (void)status;
    (void)unused;
    atomic_fetch_add(&called, 1);
}

int main(void)
{
    static uint32_t host[ITEMS];
    static const char *const names[] = {"clFinish", "clWaitForEvents", "a read that blocks", "a map that blocks"};
    start(0);
    cl_program program = build("kernel void more(global uint *v) { v[get_global_id(0)] += 1u; }", "");
    cl_kernel more = kernel_of(program, "more");
    fill_words(host, ITEMS, 5);
    cl_mem v = buffer_of(host, sizeof host);
    SET(more, v);
    for (unsigned how = 0; how < 4; how++) {
        unsigned late = 0;
        for (unsigned r = 0; r < ROUNDS; r++) {
            cl_int err;
            cl_event ends[2];
            atomic_store(&called, 0);
            launch(queue, more, ITEMS, 64, 0, NULL, &ends[0]);
            CL(clEnqueueReadBuffer(queue, v, CL_FALSE, 0, sizeof host, host, 0, NULL, &ends[1]));
            for (unsigned i = 0; i < 2; i++)
                CL(clSetEventCallback(ends[i], CL_COMPLETE, on_end, NULL));
            if (how == 0) {
                CL(clFinish(queue));
            } else if (how == 1) {
                CL(clWaitForEvents(2, ends));
            } else if (how == 2) {
                CL(clEnqueueReadBuffer(queue, v, CL_TRUE, 0, 4, host, 0, NULL, NULL));
            } else {
                void *p;
                MADE(p, clEnqueueMapBuffer(queue, v, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, &err));
                late += atomic_load(&called) < 2;
                CL(clEnqueueUnmapMemObject(queue, v, p, 0, NULL, NULL));
                CL(clFinish(queue));
            }
            late += how < 3 && atomic_load(&called) < 2;
            while (atomic_load(&called) < 2)
                sleep_ms(1);
            RELEASE(ends[0], ends[1]);
        }
        printf("%s: %s\n", names[how], late > ROUNDS / 10 ? "late" : "in time");
    }
    show("v", host, sizeof host);
    return FINISH(v, more, program);
}
