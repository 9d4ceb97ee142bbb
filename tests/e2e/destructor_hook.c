/* SPDX-License-Identifier: MIT */
/* A library whose destructor calls what the program has put into `at_last`. */
extern void (*at_last)(void);
void (*at_last)(void);

__attribute__((destructor)) static void end(void)
{
    if (at_last)
        at_last();
}
