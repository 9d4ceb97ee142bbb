/* SPDX-License-Identifier: MIT */
/* A library whose destructor does what it is told. */
extern void (*at_last)(void);
void (*at_last)(void);

__attribute__((destructor)) static void end(void)
{
    if (at_last)
        at_last();
}
