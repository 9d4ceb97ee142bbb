/* SPDX-License-Identifier: MIT */
/* waits_by WAY: launches, and hears of their ends in one way only, until it is told to end by a signal. */
#include "plain.h"

enum { ITEMS = 1024, SIDE = 16 };

static const char source[] = "__kernel void advance(__global uint *a) { a[get_global_id(0)] += 1; }\n";
static const char *way;

static bool by(const char *name)
{
    return strcmp(way, name) == 0;
}

int main(int argc, char **argv)
{
    static uint32_t host[ITEMS];
    const size_t zero[3] = {0}, rows[3] = {64, 4, 1}, texels[3] = {SIDE, SIDE, 1};
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE};
    cl_int err;
    cl_mem image;
    void *at = NULL, *svm;
    cl_ulong end;
    cl_event event;
    way = argc > 1 ? argv[1] : "";
    start(CL_QUEUE_PROFILING_ENABLE);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem a = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
    MADE(image, clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &err));
    svm = by("svm_map") || by("svm_copy") ? clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof host, 0) : NULL;
    set_mem(k, 0, a);
    for (int turn = 0;; turn++, usleep(5000)) {
        launch(queue, k, ITEMS, 64, 0, NULL, &event);
        CL(clFlush(queue));
        if (by("profile"))
            while (clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS)
                usleep(1000);
        else if (by("write"))
            CL(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
        else if (by("read_rect"))
            CL(clEnqueueReadBufferRect(queue, a, CL_TRUE, zero, zero, rows, 0, 0, 0, 0, host, 0, NULL, NULL));
        else if (by("read_image"))
            CL(clEnqueueReadImage(queue, image, CL_TRUE, zero, texels, 0, 0, host, 0, NULL, NULL));
        else if (by("map"))
            MADE(at, clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, 0, sizeof host, 0, NULL, NULL, &err));
        else if (by("svm_map"))
            CL(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, svm, sizeof host, 0, NULL, NULL));
        else if (by("svm_copy"))
            CL(clEnqueueSVMMemcpy(queue, CL_TRUE, host, svm, sizeof host, 0, NULL, NULL));
        else if (!by("none"))
            return 2;
        if (by("map"))
            CL(clEnqueueUnmapMemObject(queue, a, at, 0, NULL, NULL));
        if (by("svm_map"))
            CL(clEnqueueSVMUnmap(queue, svm, 0, NULL, NULL));
        RELEASE(event);
        if (turn == 1) {
            puts("it runs");
            fflush(stdout);
        }
    }
}
