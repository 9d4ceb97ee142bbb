/* SPDX-License-Identifier: MIT */
/* See group.h, section svm.c. */
#include "shim/devices/group.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/cache.h"
#include "common/log.h"

static struct {
    pthread_once_t once;
    bool used;                                     /* by the program */
    char entry[sizeof "svm-" + GS_HASH_HEX_BYTES]; /* in the cache, of a program that uses svm; or empty */
    atomic_bool said;
} svm = {.once = PTHREAD_ONCE_INIT};

/* Is the function among the dynamic symbols of the program itself (the first object)? */
static bool is_imported(void)
{
    static const char function[] = "clSVMAlloc";
    const struct link_map *program = _r_debug.r_map;
    const char *names = NULL;
    size_t names_bytes = 0;
    for (const ElfW(Dyn) *d = program ? program->l_ld : NULL; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB) /* some processors' loaders leave it relative */
            names = (const char *)d->d_un.d_ptr + (d->d_un.d_ptr < program->l_addr ? program->l_addr : 0);
        if (d->d_tag == DT_STRSZ)
            names_bytes = d->d_un.d_val;
    }
    return names && memmem(names, names_bytes, function, sizeof function);
}

static bool add_file(struct gs_hash *h, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    const uint64_t numbers[] = {st.st_dev, st.st_ino};
    gs_hash_add(h, numbers, sizeof numbers);
    return true;
}

/* By the executable and the first of its arguments that is a file, as an interpreter's is. */
static void name_program(void)
{
    char arguments[4096] = "";
    char key[GS_HASH_HEX_BYTES];
    struct gs_hash h;
    FILE *f = fopen("/proc/self/cmdline", "re");
    if (!f)
        return;
    const size_t n = fread(arguments, 1, sizeof arguments - 1, f);
    fclose(f);
    gs_hash_begin(&h);
    add_file(&h, "/proc/self/exe");
    for (const char *next = arguments; (next += strlen(next) + 1) < arguments + n && !add_file(&h, next);)
        ;
    gs_hash_end_hex(&h, key);
    snprintf(svm.entry, sizeof svm.entry, "svm-%s", key);
}

static void look(void)
{
    size_t bytes;
    name_program();
    char *text = svm.entry[0] ? gs_cache_read(svm.entry, &bytes) : NULL;
    svm.used = text || is_imported();
    free(text);
}

bool gs_svm_alone(const struct gs_group *g)
{
    if (!g->nvidia)
        return false;
    pthread_once(&svm.once, look);
    return svm.used;
}

bool gs_svm_refuse(const struct gs_group *g, unsigned n)
{
    if (n < 2 || !g->nvidia)
        return false;
    if (!atomic_exchange(&svm.said, true)) {
        if (svm.entry[0] && gs_cache_write(svm.entry, "used\n", 5))
            gs_error(
                "the application gets no shared virtual memory, which this driver has in contexts of one device alone; "
                "started again, it runs on one device");
        else
            gs_error(
                "the application gets no shared virtual memory, which this driver has in contexts of one device alone; "
                "with --gpus 1 it does");
    }
    return true;
}
