/* SPDX-License-Identifier: MIT */
/* Functions of the driver's whose parameters nobody here knows, and that may reach past us. The application gets the
 * address of a few instructions that keep all registers in which parameters may lie, call gs_stand_in_called, and go on
 * to the driver's function as if the application had called it. */
#include "shim/api/api.h"

#if defined(__x86_64__)
enum { STAND_INS = 64, ENTRY_BYTES = 16 };

/* So many entries, ENTRY_BYTES apart; each leaves its number for the common code behind. */
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden gs_stand_ins\n"
        ".globl gs_stand_ins\n"
        ".type gs_stand_ins, @function\n"
        "gs_stand_ins:\n"
        ".set gs_n, 0\n"
        ".rept 64\n"
        ".p2align 4\n"
        "endbr64\n"
        "movl $gs_n, %r11d\n"
        "jmp gs_stand_in_rest\n"
        ".set gs_n, gs_n + 1\n"
        ".endr\n"
        ".p2align 4\n"
        "gs_stand_in_rest:\n"
        ".cfi_startproc\n"
        "pushq %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "movq %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "pushq %rdi\npushq %rsi\npushq %rdx\npushq %rcx\npushq %r8\npushq %r9\npushq %rax\npushq %r10\n"
        "subq $128, %rsp\n"
        "movups %xmm0, (%rsp)\nmovups %xmm1, 16(%rsp)\nmovups %xmm2, 32(%rsp)\nmovups %xmm3, 48(%rsp)\n"
        "movups %xmm4, 64(%rsp)\nmovups %xmm5, 80(%rsp)\nmovups %xmm6, 96(%rsp)\nmovups %xmm7, 112(%rsp)\n"
        "movl %r11d, %edi\n"
        "call gs_stand_in_called\n"
        "movq %rax, %r11\n"
        "movups (%rsp), %xmm0\nmovups 16(%rsp), %xmm1\nmovups 32(%rsp), %xmm2\nmovups 48(%rsp), %xmm3\n"
        "movups 64(%rsp), %xmm4\nmovups 80(%rsp), %xmm5\nmovups 96(%rsp), %xmm6\nmovups 112(%rsp), %xmm7\n"
        "addq $128, %rsp\n"
        "popq %r10\npopq %rax\npopq %r9\npopq %r8\npopq %rcx\npopq %rdx\npopq %rsi\npopq %rdi\n"
        "popq %rbp\n"
        ".cfi_def_cfa %rsp, 8\n"
        "jmp *%r11\n"
        ".cfi_endproc\n"
        ".size gs_stand_ins, . - gs_stand_ins\n");
extern const char gs_stand_ins[] __attribute__((visibility("hidden")));
#else
enum { STAND_INS = 0, ENTRY_BYTES = 0 };
static const char *const gs_stand_ins;
#endif

static struct {
    void *_Atomic theirs[STAND_INS + 1];
    const char *_Atomic reason[STAND_INS + 1];
} stands_for;

/* Called by the text above. */
void *gs_stand_in_called(unsigned i) __attribute__((visibility("hidden"), used));
void *gs_stand_in_called(unsigned i)
{
    if (!gs_given_up(NULL))
        gs_give_up(atomic_load(&stands_for.reason[i]));
    gs_touch_given_up();
    return atomic_load(&stands_for.theirs[i]);
}

void *gs_stand_in(void *theirs, const char *reason)
{
    for (unsigned i = 0; i < STAND_INS; i++) {
        void *known = NULL;
        const char *none = NULL;
        if (!atomic_compare_exchange_strong(&stands_for.theirs[i], &known, theirs) && known != theirs)
            continue;
        atomic_compare_exchange_strong(&stands_for.reason[i], &none, reason);
        return (void *)(uintptr_t)(gs_stand_ins + (size_t)i * ENTRY_BYTES);
    }
    gs_give_up(reason);
    return theirs;
}
