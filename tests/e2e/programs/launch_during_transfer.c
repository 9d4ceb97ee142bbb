/* SPDX-License-Identifier: MIT */
/* Two threads share a queue in order, over the layer call_hooks.c. Just before the driver is asked for what the one
 * reads, maps or writes (`will_read`, `will_write`), the other one launches a kernel that changes all of the same
 * object, or copies it, or it reads another one. In the queue that comes before the transfer or after it: there is no
 * mixture, and neither waits for what waits for it. */
#include "plain.h"

enum { WIDTH = 256, HEIGHT = 64, WORDS = WIDTH * HEIGHT, BYTES = WORDS * 4, PATIENCE_MS = 50 };

static const char source[] =
    "__kernel void fill(__global uint *v, uint k) { v[get_global_id(0)] = k; }\n"
    "__kernel void copy(__global uint *to, __global const uint *v) { to[get_global_id(0)] = v[get_global_id(0)]; }\n"
    "__kernel void paint(__write_only image2d_t v, uint k)\n"
    "{ write_imageui(v, (int2)(get_global_id(0), get_global_id(1)), (uint4)(k)); }\n"
    "__kernel void trace(__global uint *to, __read_only image2d_t v)\n"
    "{ int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "  to[get_global_id(1) * get_global_size(0) + get_global_id(0)] = read_imageui(v, at).x; }\n";

static cl_kernel fill, copy, paint, trace;
static cl_mem words, texels, copied;
static uint32_t host[WORDS], later[WORDS];
static const size_t origin[3], row[3] = {WIDTH * 4, HEIGHT, 1}, box[3] = {WIDTH, HEIGHT, 1};

enum way { READ, READ_LATER, READ_ROWS, MAP, READ_TEXELS, MAP_TEXELS, WRITE, WRITE_ROWS, WRITE_TEXELS, WAYS };
static const char *const names[WAYS] = {"read",  "read that doesn't block", "read of rows",
                                        "map",   "read of an image",        "map of an image",
                                        "write", "write of rows",           "write of an image"};

static bool is_of_image(enum way way)
{
    return way == READ_TEXELS || way == MAP_TEXELS || way == WRITE_TEXELS;
}

static void run(cl_kernel k, bool of_image)
{
    const size_t global[2] = {WIDTH, HEIGHT}, local[2] = {WIDTH, 1};
    if (!of_image)
        launch(queue, k, WORDS, 64, 0, NULL, NULL);
    else
        CL(clEnqueueNDRangeKernel(queue, k, 2, NULL, global, local, 0, NULL, NULL));
}

/* What the other thread does: it writes `value` everywhere, or copies all. */
static void change(bool of_image, uint32_t value)
{
    set_uint(of_image ? paint : fill, 1, value);
    run(of_image ? paint : fill, of_image);
}

enum other { CHANGES, COPIES, READS };
static const char *const does[] = {"a launch that changes all", "a launch that copies", "a read of another object"};
static struct {
    enum way way;
    enum other what;
    uint32_t value;
} others;
static atomic_bool armed, launched;
static bool came_before; /* the launch, than the driver got the transfer */
static _Thread_local bool is_first;
static pthread_t thread;

static void *launch_other(void *unused)
{
    if (others.what == COPIES)
        run(is_of_image(others.way) ? trace : copy, is_of_image(others.way));
    else if (others.what == READS)
        CL(clEnqueueReadBuffer(queue, copied, CL_FALSE, 0, BYTES, later, 0, NULL, NULL));
    else
        change(is_of_image(others.way), others.value);
    CL(clFlush(queue));
    atomic_store(&launched, true);
    return NULL;
}

/* The launch may have to wait for this thread, which has a lock then. */
static void let_launch(void)
{
    if (!is_first || !atomic_exchange(&armed, false))
        return;
    thread = new_thread(launch_other, NULL);
    for (int i = 0; i < PATIENCE_MS && !atomic_load(&launched); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    came_before = atomic_load(&launched);
}

__attribute__((visibility("default"))) void will_read(void);
void will_read(void)
{
    let_launch();
}

__attribute__((visibility("default"))) void will_write(void);
void will_write(void)
{
    let_launch();
}

static void set_host(uint32_t value)
{
    for (size_t i = 0; i < WORDS; i++)
        host[i] = value;
}

static bool is_uniform(const uint32_t *v)
{
    for (size_t i = 1; i < WORDS; i++)
        if (v[i] != v[0])
            return false;
    return true;
}

static bool map_is_uniform(bool of_image)
{
    cl_int err;
    size_t pitch;
    void *v;
    if (of_image)
        MADE(v, clEnqueueMapImage(queue, texels, CL_TRUE, CL_MAP_READ, origin, box, &pitch, NULL, 0, NULL, NULL, &err));
    else
        v = map_now(words, CL_MAP_READ, 0, BYTES);
    /* A launch that comes after the map may be under way while this looks. An image's rows of 1 KiB have no gaps. */
    const bool uniform = !came_before || is_uniform(v);
    unmap(of_image ? texels : words, v);
    return uniform;
}

/* Is what is read all of one command's? Of a write there is nothing to be said yet. */
static bool carry(enum way way)
{
    switch (way) {
    case READ_LATER:
        CL(clEnqueueReadBuffer(queue, words, CL_FALSE, 0, BYTES, host, 0, NULL, NULL));
        CL(clFinish(queue));
        break;
    case READ_ROWS:
        CL(clEnqueueReadBufferRect(queue, words, CL_TRUE, origin, origin, row, 0, 0, 0, 0, host, 0, NULL, NULL));
        break;
    case READ_TEXELS:
        CL(clEnqueueReadImage(queue, texels, CL_TRUE, origin, box, 0, 0, host, 0, NULL, NULL));
        break;
    case MAP:
    case MAP_TEXELS:
        return map_is_uniform(way == MAP_TEXELS);
    case WRITE:
        CL(clEnqueueWriteBuffer(queue, words, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
        break;
    case WRITE_ROWS:
        CL(clEnqueueWriteBufferRect(queue, words, CL_TRUE, origin, origin, row, 0, 0, 0, 0, host, 0, NULL, NULL));
        break;
    case WRITE_TEXELS:
        CL(clEnqueueWriteImage(queue, texels, CL_TRUE, origin, box, 0, 0, host, 0, NULL, NULL));
        break;
    default:
        CL(clEnqueueReadBuffer(queue, words, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
    }
    return is_uniform(host);
}

static void try(enum way way, bool away, enum other what)
{
    static uint32_t value;
    const bool of_image = is_of_image(way);
    set_host(++value);
    if (away)
        change(of_image, value);
    else
        carry(of_image ? WRITE_TEXELS : WRITE);
    if (what == READS) /* what lies on all devices */
        run(of_image ? trace : copy, of_image);
    CL(clFinish(queue));
    set_host(++value);
    others.way = way;
    others.what = what;
    others.value = ++value;
    atomic_store(&launched, false);
    came_before = false;
    atomic_store(&armed, true);
    const bool well = carry(way);
    if (!atomic_exchange(&armed, false)) /* else another thread has asked the driver */
        CL(pthread_join(thread, NULL));
    const bool all = carry(of_image ? READ_TEXELS : READ);
    CL(clEnqueueReadBuffer(queue, copied, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
    printf("%s beside %s, %s: %s, %s, %s\n", names[way], does[what], away ? "launched before" : "written before",
           well ? "one" : "A MIXTURE", all ? "one" : "A MIXTURE LIES THERE",
           is_uniform(host) && is_uniform(later) ? "one" : "A MIXTURE IS COPIED");
}

int main(void)
{
    cl_int err;
    const cl_image_format format = {CL_R, CL_UNSIGNED_INT32};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH, .image_height = HEIGHT};
    is_first = true;
    start(0);
    cl_program p = build(source, "");
    fill = kernel_of(p, "fill");
    copy = kernel_of(p, "copy");
    paint = kernel_of(p, "paint");
    trace = kernel_of(p, "trace");
    words = buffer_of(host, BYTES);
    copied = buffer_of(host, BYTES);
    MADE(texels, clCreateImage(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &desc, host, &err));
    set_mem(fill, 0, words);
    SET(copy, copied, words);
    set_mem(paint, 0, texels);
    SET(trace, copied, texels);
    for (int i = 0; i < 4; i++) /* then such calls are handed on, until the first split */
        carry(READ);
    for (int way = 0; way < WAYS; way++)
        for (int away = 0; away < 2; away++)
            for (int other = 0; other < 2; other++)
                try(way, away, !other ? CHANGES : way >= WRITE ? COPIES : READS);
    return FINISH(words, copied, texels, fill, copy, paint, trace, p);
}
