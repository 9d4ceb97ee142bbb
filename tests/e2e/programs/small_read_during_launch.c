/* SPDX-License-Identifier: MIT */
/* A launch writes each third byte of a buffer. Of these and their neighbours a call that blocks reads a few; just
 * before the driver is asked for them (`will_read`, called by the layer call_hooks.c), another thread makes a user
 * event, which has gpusparc bring everything to the first device. */
#include "plain.h"

enum { THIRDS = 6000, BYTES = 3 * THIRDS, FROM = BYTES - 300, FEW = 4 };

static const char source[] = "__kernel void third(__global uchar *v)\n"
                             "{ uint i = get_global_id(0); v[i * 3u + 1u] ^= (uchar)(i + 5u); }\n";

static pthread_t thread;
static bool armed, started;

static void *make_user_event(void *user)
{
    *(cl_event *)user = new_user_event();
    return NULL;
}

static cl_event user;

__attribute__((visibility("default"))) void will_read(void);
void will_read(void)
{
    if (!armed)
        return;
    armed = false;
    started = pthread_create(&thread, NULL, make_user_event, &user) == 0;
    if (started)
        pthread_join(thread, NULL);
}

int main(void)
{
    static unsigned char host[BYTES], got[BYTES];
    cl_command_queue other; /* what comes home goes by another queue of gpusparc's than the read */
    start(0);
    other = new_queue(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "third");
    for (size_t i = 0; i < BYTES; i++)
        host[i] = (unsigned char)(i * 7);
    cl_mem m = buffer_of(host, BYTES);
    set_mem(k, 0, m);
    launch(queue, k, THIRDS, 100, 0, NULL, NULL);
    CL(clFinish(queue));
    armed = true;
    CL(clEnqueueReadBuffer(queue, m, CL_TRUE, FROM, FEW, got, 0, NULL, NULL));
    show("a few", got, FEW);
    if (started)
        CL(clSetUserEventStatus(user, CL_COMPLETE));
    if (started)
        CL(clReleaseEvent(user));
    CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, BYTES, got, 0, NULL, NULL));
    show("all", got, BYTES);
    return FINISH(m, k, p, other);
}
