/* SPDX-License-Identifier: MIT */
/* An object that is found without the table's lock is the one that was looked for, between whichever of the reader's
 * instructions another one comes into its bucket and goes again. */
#include <signal.h>
#include <stdio.h>

#include "shim/record/objects.h"
#include "shim/record/upward.h"

/* What objects.c wants of the others. */
static void destroy(struct gs_object *o)
{
    (void)o;
}
const struct gs_above_objects gs_above_objects = {.destroy = destroy};
struct _cl_icd_dispatch gs_real_table;
_Atomic bool gs_real_ready = true;
void gs_real_load(void)
{
}

#if defined __x86_64__ && !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
enum { SKIPPED = 77, TRAP = 0x100, INSTRUCTIONS = 60 };
static struct gs_object stays, brief;
static void *const handle = (void *)(uintptr_t)0x10000; /* never looked into */
static uintptr_t other = 0x10010;
static volatile sig_atomic_t done, comes, goes; /* instructions; before which the other one does */

static void stepped(int signal)
{
    (void)signal;
    done++;
    if (done == comes)
        gs_insert(&brief, GS_QUEUE, (void *)other, NULL);
    if (done == goes)
        gs_drop(&brief);
}

static __attribute__((noinline)) void *look(void)
{
    return gs_find_newest(GS_QUEUE, handle);
}

/* What is found, with a signal after each instruction. */
static __attribute__((noinline)) const void *find(void)
{
    done = 0;
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP);
    const void *o = look();
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(unsigned long long)TRAP);
    if (done >= comes && done < goes)
        gs_drop(&brief);
    return o;
}

int main(void)
{
    unsigned found = 0, wrong = 0;
    const struct sigaction action = {.sa_handler = stepped};
    if (sigaction(SIGTRAP, &action, NULL) != 0)
        return SKIPPED;
    while (gs_bucket_of((void *)other) != gs_bucket_of(handle))
        other += 16;
    gs_insert(&stays, GS_QUEUE, handle, NULL);
    for (comes = 1; comes < INSTRUCTIONS; comes++)
        for (goes = comes + 1; goes <= INSTRUCTIONS; goes++) {
            const void *o = find();
            found += o != NULL;
            wrong += o && o != &stays;
        }
    printf("found %u times, %u times another one\n", found, wrong);
    return found && done && !wrong ? 0 : 1;
}
#else
int main(void)
{
    return 77;
}
#endif
