/* SPDX-License-Identifier: MIT */
/* reloading PLUGIN: loads and unloads plugin.c often, whose handlers run each time, the later one first. That leaves no
 * memory that grows, and isn't the end of the process: then it launches. */
#include <dlfcn.h>
#include <malloc.h>

#include "plain.h"

enum { ITEMS = 1 << 16 };

static const char source[] = "__kernel void add(__global uint *v) { v[get_global_id(0)] += 1; }\n";

typedef int begin_fn(int *ran);

static int reload(const char *path)
{
    begin_fn *begin = NULL;
    int ran = 0;
    void *plugin = dlopen(path, RTLD_NOW);
    if (plugin)
        *(void **)&begin = dlsym(plugin, "begin");
    if (!begin || begin(&ran) != 0 || ran || dlclose(plugin) != 0)
        return -1;
    return ran;
}

int main(int argc, char **argv)
{
    enum { FIRST = 10, ROUNDS = 2000, IN_ORDER = 21, MOST = 32 << 10 };
    size_t before = 0;
    if (argc < 2)
        return 2;
    for (int i = 0; i < FIRST + ROUNDS; i++) {
        if (i == FIRST)
            before = mallinfo2().uordblks;
        const int ran = reload(argv[1]);
        if (ran != IN_ORDER) {
            printf("round %d: %d instead of %d\n", i, ran, IN_ORDER);
            return 1;
        }
    }
    const size_t after = mallinfo2().uordblks;
    if (after > before + MOST)
        printf("%zu bytes more after %d rounds\n", after - before, ROUNDS);
    start(0);
    cl_program program = build(source, "");
    cl_kernel k = kernel_of(program, "add");
    cl_mem m = buffer(CL_MEM_READ_WRITE, ITEMS * 4, NULL);
    set_mem(k, 0, m);
    launch(queue, k, ITEMS, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    RELEASE(m, k, program);
    finish();
    return after > before + MOST;
}
