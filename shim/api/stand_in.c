/* SPDX-License-Identifier: MIT */
/* Functions of the driver's whose parameters nobody here knows, and that may reach past us. The application gets one of
 * the functions below, which calls the driver's with the parameters that it has been called with, whatever they are
 * (GCC's manual, "Constructing Calls"), and with so many bytes of the stack. */
#include "shim/api/api.h"

typedef void any_function(void);

#if __has_builtin(__builtin_apply_args)
enum { STACK_BYTES = 256 };
#define ALL(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#else
#define ALL(X) /* another compiler: none */
#endif
#define ONE(i) +1
enum { STAND_INS = 0 ALL(ONE) };

static struct {
    void *_Atomic theirs[STAND_INS + 1];
    const char *_Atomic reason[STAND_INS + 1];
} stands_for;

static __attribute__((noinline, unused)) any_function *called(unsigned i)
{
    any_function *function;
    void *const theirs = atomic_load(&stands_for.theirs[i]);
    if (!gs_given_up(NULL))
        gs_give_up(atomic_load(&stands_for.reason[i]));
    gs_touch_given_up();
    memcpy(&function, &theirs, sizeof function);
    return function;
}

#define STAND_IN(i)                                                                                                    \
    static void stand_in_##i(void)                                                                                     \
    {                                                                                                                  \
        void *const parameters = __builtin_apply_args();                                                               \
        __builtin_return(__builtin_apply(called(i), parameters, STACK_BYTES));                                         \
    }
ALL(STAND_IN)
#define POINTER(i) stand_in_##i,
static any_function *const stand_ins[STAND_INS + 1] = {ALL(POINTER) NULL};

void *gs_stand_in(void *theirs, const char *reason)
{
    for (unsigned i = 0; i < STAND_INS; i++) {
        void *known = NULL, *address;
        const char *none = NULL;
        if (!atomic_compare_exchange_strong(&stands_for.theirs[i], &known, theirs) && known != theirs)
            continue;
        atomic_compare_exchange_strong(&stands_for.reason[i], &none, reason);
        memcpy(&address, &stand_ins[i], sizeof address);
        return address;
    }
    gs_give_up(reason);
    return theirs;
}
