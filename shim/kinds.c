/* SPDX-License-Identifier: MIT */
#include "shim/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "shim/report.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all programs' lists */

static struct gs_kernel_kind *find(const struct gs_program *p, const char *name)
{
    struct gs_kernel_kind *k = p->kinds;
    while (k && (k->old || strcmp(k->name, name) != 0))
        k = k->next;
    return k;
}

static void destroy(struct gs_kernel_kind *k)
{
    if (k)
        free(k->name);
    free(k);
}

static char *name_of(cl_kernel handle)
{
    size_t n = 0;
    gs_real()->clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, 0, NULL, &n);
    char *name = calloc(1, n + 1);
    if (name)
        gs_real()->clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, n, name, NULL);
    return name;
}

static struct gs_kernel_kind *make(cl_kernel handle, const char *name)
{
    struct gs_kernel_kind *k = aligned_alloc(GS_LINE, sizeof *k);
    if (!k)
        return NULL;
    memset(k, 0, sizeof *k);
    gs_real()->clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, sizeof k->n_args, &k->n_args, NULL);
    k->stats = gs_report_kernel(name);
    k->name = strdup(name);
    if (k->name)
        return k;
    free(k);
    return NULL;
}

struct gs_kernel_kind *gs_kind_find_or_make(struct gs_program *p, cl_kernel handle, const char *name, bool *new)
{
    char *own = name ? NULL : name_of(handle);
    name = name ? name : own;
    *new = false;
    if (!name)
        return NULL;
    pthread_mutex_lock(&lock);
    struct gs_kernel_kind *k = find(p, name);
    pthread_mutex_unlock(&lock);
    if (k) {
        free(own);
        return k;
    }
    struct gs_kernel_kind *made = make(handle, name);
    pthread_mutex_lock(&lock);
    k = find(p, name);
    *new = !k &&made;
    if (*new) {
        made->next = p->kinds;
        p->kinds = k = made;
    }
    pthread_mutex_unlock(&lock);
    if (!*new)
        destroy(made);
    free(own);
    return k;
}

void gs_kinds_forget(struct gs_program *p)
{
    pthread_mutex_lock(&lock);
    for (struct gs_kernel_kind *k = p->kinds; k; k = k->next)
        k->old = true;
    pthread_mutex_unlock(&lock);
}

void gs_kinds_free(struct gs_program *p)
{
    while (p->kinds) {
        struct gs_kernel_kind *next = p->kinds->next;
        destroy(p->kinds);
        p->kinds = next;
    }
}
