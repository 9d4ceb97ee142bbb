/* SPDX-License-Identifier: MIT */
/* Programs whose translation no single process wins back, compiled once between processes for all later ones
 * (docs/choice.md). */
#ifndef GS_SHIM_CHOOSE_LATER_H
#define GS_SHIM_CHOOSE_LATER_H

#include "shim/record/objects.h"

/* May a job be written for the program? If it has been compiled for later processes its built_ns says what that took.
 * The first time a file is looked for. The book is open; without its lock. */
bool gs_later_look(struct gs_program *p);

/* Later processes would gain by splits if it were compiled: a job is written, once. The same locks. */
void gs_later_write(struct gs_program *p);

/* This process has prepared it by itself. */
void gs_later_prepared(struct gs_program *p);

/* Has this process written a job that is still to be done? */
bool gs_later_written(void);

/* Is this gpusparc-compile? It has its program prepared at once, whatever that gains, and waits for it: no other
 * process does. */
bool gs_later_compiles(void);
void gs_later_compile(struct gs_program *p);

/* The process ends: what is to be compiled is, beyond it. */
void gs_later_end(void);

#endif
