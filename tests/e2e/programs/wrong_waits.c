/* SPDX-License-Identifier: MIT */
/* wrong_waits: calls that block and that have something wrong, each right behind a launch that waits for a user event
 * of the program's. None of them may wait: what is wrong is said at once, and only then does the event end. */
#include "plain.h"

enum { N = 1 << 12, BYTES = N * 4 };

static const char source[] = "__kernel void add(__global uint *v) { v[get_global_id(0)] += 3u; }\n";

static cl_kernel kernel;
static cl_event user;

static void waits(void)
{
    launch(queue, kernel, N, 64, 1, &user, NULL);
}

/* The call, and what it answers. */
#define SAY(call) (waits(), printf("%s: %d\n", #call, (call)))
#define SAY_MADE(call)                                                                                                 \
    do {                                                                                                               \
        waits();                                                                                                       \
        cl_int err = 12345;                                                                                            \
        const bool made = (call) != NULL;                                                                              \
        printf("%s: %d%s\n", #call, err, made ? ", made" : "");                                                        \
    } while (0)

static void wrong(cl_mem mem, cl_mem image, const cl_event *foreign)
{
    static uint32_t host[N];
    const cl_event none = NULL;
    const size_t from[3] = {0, 0, 0}, some[3] = {16, 2, 1}, wide[3] = {17, 2, 1};
    size_t pitch;
    SAY(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, BYTES, NULL, 0, NULL, NULL));
    SAY(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, BYTES, host, 1, NULL, NULL));
    SAY(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, BYTES, host, 1, &none, NULL));
    SAY(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, BYTES, host, 1, foreign, NULL));
    SAY(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, BYTES, NULL, 0, NULL, NULL));
    SAY(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, BYTES, host, 1, NULL, NULL));
    SAY(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, BYTES, host, 1, &none, NULL));
    SAY(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, BYTES, host, 1, foreign, NULL));
    SAY(clEnqueueReadBufferRect(queue, mem, CL_TRUE, from, from, some, 0, 0, 0, 0, NULL, 0, NULL, NULL));
    SAY(clEnqueueReadBufferRect(queue, mem, CL_TRUE, from, from, some, 0, 0, 0, 0, host, 1, &none, NULL));
    SAY(clEnqueueReadBufferRect(queue, mem, CL_TRUE, from, from, some, 20, 0, 4, 0, host, 0, NULL, NULL));
    SAY(clEnqueueReadBufferRect(queue, mem, CL_TRUE, from, from, some, 0, 0, 0, 0, host, 1, foreign, NULL));
    SAY(clEnqueueWriteBufferRect(queue, mem, CL_TRUE, from, from, some, 0, 0, 0, 0, NULL, 0, NULL, NULL));
    SAY(clEnqueueWriteBufferRect(queue, mem, CL_TRUE, from, from, some, 20, 0, 4, 0, host, 0, NULL, NULL));
    SAY(clEnqueueWriteBufferRect(queue, mem, CL_TRUE, from, from, some, 0, 0, 0, 0, host, 1, foreign, NULL));
    SAY_MADE(clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 64, 1, NULL, NULL, &err));
    SAY_MADE(clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 64, 1, &none, NULL, &err));
    SAY_MADE(clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 64, 1, foreign, NULL, &err));
    SAY(clEnqueueReadImage(queue, image, CL_TRUE, from, wide, 0, 0, host, 0, NULL, NULL));
    SAY(clEnqueueReadImage(queue, image, CL_TRUE, from, some, 0, 0, NULL, 0, NULL, NULL));
    SAY(clEnqueueReadImage(queue, image, CL_TRUE, from, some, 0, 0, host, 1, &none, NULL));
    SAY(clEnqueueReadImage(queue, image, CL_TRUE, from, some, 0, 0, host, 1, foreign, NULL));
    SAY(clEnqueueWriteImage(queue, image, CL_TRUE, from, wide, 0, 0, host, 0, NULL, NULL));
    SAY(clEnqueueWriteImage(queue, image, CL_TRUE, from, some, 0, 0, NULL, 0, NULL, NULL));
    SAY(clEnqueueWriteImage(queue, image, CL_TRUE, from, some, 0, 0, host, 1, foreign, NULL));
    SAY_MADE(clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, from, wide, &pitch, NULL, 0, NULL, NULL, &err));
    SAY_MADE(clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, from, some, NULL, NULL, 0, NULL, NULL, &err));
    SAY_MADE(clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, from, some, &pitch, NULL, 1, foreign, NULL, &err));
}

int main(void)
{
    static uint32_t host[N];
    cl_int err;
    cl_event foreign;
    start(0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    cl_context other = new_context();
    MADE(foreign, clCreateUserEvent(other, &err));
    cl_program p = build(source, "");
    kernel = kernel_of(p, "add");
    cl_mem mem = buffer_of(host, sizeof host),
           image = new_image(CL_MEM_OBJECT_IMAGE2D, (size_t[3]){16, 16, 1}, CL_MEM_READ_WRITE, CL_UNSIGNED_INT8, NULL);
    set_mem(kernel, 0, mem);
    launch(queue, kernel, N, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    user = new_user_event();
    wrong(mem, image, &foreign);
    CL(clSetUserEventStatus(user, CL_COMPLETE));
    show_buffer("at the end", queue, mem, 0, BYTES);
    CL(clSetUserEventStatus(foreign, CL_COMPLETE));
    return FINISH(user, foreign, mem, image, kernel, p, other);
}
