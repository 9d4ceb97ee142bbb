/* SPDX-License-Identifier: MIT */
/* Functions that a room above gives to one below it. The table stands in a section of its own, where the room below
 * finds it: the linker brings the two together, so that nothing has to run first. A library's constructor may call
 * OpenCL before ours have run. */
#ifndef GS_SHIM_PROCESS_GIVEN_H
#define GS_SHIM_PROCESS_GIVEN_H

/* In the header of the room below: `table` leads to what it is given, a struct of that name. */
#define GS_TAKES(table)                                                                                                \
    extern const struct table __start_##table[] __attribute__((visibility("hidden")));                                 \
    static inline const struct table *table(void)                                                                      \
    {                                                                                                                  \
        return __start_##table;                                                                                        \
    }                                                                                                                  \
    _Static_assert(1, "")

/* In a file of the room above, once: GS_GIVES(table) = {...}; */
#define GS_GIVES(table) static const struct table given_##table __attribute__((section(#table), used))

#endif
