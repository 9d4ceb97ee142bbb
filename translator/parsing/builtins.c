/* SPDX-License-Identifier: MIT */
/* What is known of OpenCL C's built-in functions, by name (OpenCL C specification 3.0, section 6.15). */
#include "translator/parsing/builtins.h"

#include <string.h>

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

static bool one_of(const char *s, const char *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(s, v[i]) == 0)
            return true;
    return false;
}

#define ONE_OF(s, ...)                                                                                                 \
    one_of(s, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

bool gs_builtin_is_hidden(const char *name)
{
    return ONE_OF(name, "get_group_id", "get_num_groups", "get_global_size", "get_global_offset",
                  "get_global_linear_id");
}

bool gs_builtin_is_moved(const char *name)
{
    return strcmp(name, "get_global_id") == 0;
}

bool gs_builtin_uses_group(const char *name)
{
    return ONE_OF(name, "get_group_id", "get_num_groups", "get_local_id", "get_local_size", "get_enqueued_local_size",
                  "get_local_linear_id", "barrier", "wait_group_events", "get_num_sub_groups",
                  "get_enqueued_num_sub_groups", "get_max_sub_group_size", "get_sub_group_size", "get_sub_group_id",
                  "get_sub_group_local_id") ||
           begins(name, "work_group_") || begins(name, "sub_group_") || begins(name, "intel_sub_group_") ||
           begins(name, "async_work_group_") || begins(name, "async_copy_");
}

const char *gs_builtin_refusal(const char *name)
{
    if (strcmp(name, "printf") == 0)
        return "it prints, and a split would change the order of the lines";
    if (begins(name, "enqueue_") || begins(name, "get_kernel_") || strcmp(name, "get_default_queue") == 0 ||
        strcmp(name, "ndrange_1D") == 0 || strcmp(name, "ndrange_2D") == 0 || strcmp(name, "ndrange_3D") == 0)
        return "it enqueues kernels from the device";
    if (strstr(name, "_pipe"))
        return "it uses pipes";
    if (begins(name, "__sync_") || begins(name, "__atomic_"))
        return "it uses an atomic that isn't OpenCL's";
    return NULL;
}

/* The operation in an atomic's name, behind its prefix. */
static enum gs_atomic_op atomic_op(const char *s)
{
    static const struct {
        const char *name;
        enum gs_atomic_op op;
    } ops[] = {{"add", GS_ATOMIC_ADD}, {"sub", GS_ATOMIC_ADD}, {"inc", GS_ATOMIC_ADD},
               {"dec", GS_ATOMIC_ADD}, {"min", GS_ATOMIC_MIN}, {"max", GS_ATOMIC_MAX},
               {"and", GS_ATOMIC_AND}, {"or", GS_ATOMIC_OR},   {"xor", GS_ATOMIC_XOR}};
    size_t n = strcspn(s, "_");
    if (s[n] && strcmp(s + n, "_explicit") != 0)
        return GS_ATOMIC_OTHER;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strlen(ops[i].name) == n && memcmp(ops[i].name, s, n) == 0)
            return ops[i].op;
    return GS_ATOMIC_OTHER;
}

bool gs_builtin_atomic(const char *name, enum gs_atomic_op *op)
{
    *op = GS_ATOMIC_OTHER;
    if (begins(name, "atomic_work_item_fence"))
        return false;
    if (begins(name, "atomic_fetch_"))
        *op = atomic_op(name + strlen("atomic_fetch_"));
    else if (begins(name, "atomic_"))
        *op = atomic_op(name + strlen("atomic_"));
    else if (begins(name, "atom_"))
        *op = atomic_op(name + strlen("atom_"));
    else
        return false;
    return true;
}

bool gs_builtin_returns_pointer(const char *name)
{
    return ONE_OF(name, "to_global", "to_local", "to_private", "__to_global", "__to_local", "__to_private");
}

bool gs_builtin_only_looks(const char *name)
{
    return gs_builtin_returns_pointer(name) || ONE_OF(name, "prefetch", "get_fence", "wait_group_events");
}
