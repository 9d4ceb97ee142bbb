/* SPDX-License-Identifier: MIT */
/* failed_images: commands on images, each behind a user event that fails, in the command's own wait list or in that of
 * a marker before it. None of them is carried out. */
#include "plain.h"

enum { SIDE = 64, BYTES = SIDE * SIDE * 4 };
enum way { WRITE, COPY, FILL, TO_BUFFER, FROM_BUFFER, READ, MAP, WAYS };

static uint32_t host[SIDE * SIDE], other[SIDE * SIDE];
static cl_mem image, words;
static const size_t origin[3], half[3] = {SIDE / 2, SIDE / 2}, few[3] = {8, 8, 1}, all[3] = {SIDE, SIDE, 1};

static cl_int change(cl_command_queue q, enum way way, cl_uint n, const cl_event *wait, cl_event *end)
{
    size_t pitch;
    cl_int err;
    switch (way) {
    case WRITE:
        return clEnqueueWriteImage(q, image, CL_FALSE, origin, few, 0, 0, other, n, wait, end);
    case COPY:
        return clEnqueueCopyImage(q, image, image, origin, half, few, n, wait, end);
    case FILL:
        return clEnqueueFillImage(q, image, other, origin, few, n, wait, end);
    case TO_BUFFER:
        return clEnqueueCopyImageToBuffer(q, image, words, origin, few, 0, n, wait, end);
    case FROM_BUFFER:
        return clEnqueueCopyBufferToImage(q, words, image, 0, origin, few, n, wait, end);
    case READ:
        return clEnqueueReadImage(q, image, CL_FALSE, origin, few, 0, 0, other, n, wait, end);
    default:
        clEnqueueMapImage(q, image, CL_FALSE, CL_MAP_READ, origin, few, &pitch, NULL, n, wait, end, &err);
        return err;
    }
}

int main(void)
{
    start(0);
    fill_words(host, SIDE * SIDE, 5);
    image = new_image(CL_MEM_OBJECT_IMAGE2D, all, CL_MEM_READ_WRITE, CL_UNSIGNED_INT8, NULL);
    words = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    CL(clEnqueueWriteImage(queue, image, CL_TRUE, origin, all, 0, 0, host, 0, NULL, NULL));
    CL(clEnqueueWriteBuffer(queue, words, CL_TRUE, 0, BYTES, other, 0, NULL, NULL));
    for (int way = 0; way < WAYS * 2; way++) {
        cl_command_queue q = new_queue(0); /* what comes after the failure in its queue is the driver's own affair */
        cl_event user = new_user_event(), marker = NULL, end;
        if (way % 2)
            CL(clEnqueueMarkerWithWaitList(q, 1, &user, &marker));
        CL(change(q, way / 2, way % 2 ? 0 : 1, way % 2 ? NULL : &user, &end));
        CL(clFlush(q));
        CL(clSetUserEventStatus(user, -5));
        printf("way %d: waited %d, failed %d\n", way, clWaitForEvents(1, &end), status_of(end) < 0);
        RELEASE(end, user);
        if (marker)
            CL(clReleaseEvent(marker));
        CL(clReleaseCommandQueue(q));
    }
    CL(clEnqueueReadImage(queue, image, CL_TRUE, origin, all, 0, 0, host, 0, NULL, NULL));
    show("image", host, sizeof host);
    return FINISH(image, words);
}
