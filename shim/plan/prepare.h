/* SPDX-License-Identifier: MIT */
/* What gpusparc knows of a program beside the driver's object: the translation, compiled for every device before it is
 * used; the macros of a device's compiler; what a binary was built from; and files for --dump. */
#ifndef GS_SHIM_PLAN_PREPARE_H
#define GS_SHIM_PLAN_PREPARE_H

#include "common/lock/locked.h"
#include "shim/record/size.h"

/* What the translator knows of the kernel. The first call translates the program; the first with `compile` compiles the
 * translation for every device. NULL: the kernel can't be split, and *reason says why (lives as long as the program).
 * Takes the program's lock; may take long. */
const struct gs_kernel_summary *gs_prepare(struct gs_kernel *k, bool compile, const char **reason);

/* Is the program prepared, so that gs_prepare is quick: translated, and compiled if that is of any use? */
bool gs_prepared(struct gs_program *p);

/* Has a thread prepare the program, and waits most_ns at most; unless most_ns is 0, call without the context's lock. */
void gs_prepare_by_thread(struct gs_program *p, uint64_t most_ns);

/* Translates a program, if need be, and returns which headers on disk were included (see gs_summary.headers); NULL: the
 * program can't be translated. Takes the program's lock; may take long. */
const char *gs_translated_headers(struct gs_program *p);

/* A kernel object of the translated program for one launch on a place: the arguments are the caller's until
 * gs_spare_kernel_give. Any thread. Null with the error in *err. */
cl_kernel gs_spare_kernel(struct gs_kernel *k, unsigned place, cl_int *err);
void gs_spare_kernel_give(struct gs_kernel *k, unsigned place, cl_kernel spare);

/* Frees the units of a compiled or linked program. */
void gs_program_drop_units(struct gs_program *p);
/* For a program that is about to be built anew: forgets the translation and the kernels. Waits for a thread of ours.
 * The caller sets p->refusal. */
void gs_program_clear(struct gs_program *p);
/* Frees everything that this room has made for the program. */
void gs_program_free(struct gs_program *p);

/* ---- macros.c: the macros that a device's compiler predefines. A program of #ifdefs asks each device, driver and
 * language version once; the cache on disk keeps the answer ---- */

/* The macros for a unit with those options (gs_translate_unit.macros), malloc'd. NULL: unknown, and the translator
 * guesses. May take as long as a small build. Any thread. */
char *gs_device_macros(struct gs_context *ctx, const char *options);

/* ---- binaries.c: what a program's binary was built from. Applications keep binaries to build their programs from next
 * time (pyopencl, OpenCV); the cache on disk leads from such a binary to the source it came from under gpusparc, so
 * that kernels can be split. Not for binaries of linked programs. ---- */

/* The application was given this binary of the program. Translates a program that includes headers, since those may
 * change before the binary is used. Takes the program's lock. */
void gs_binary_keep(struct gs_program *p, const void *binary, size_t bytes);

/* Reads the driver's binary for the context's first device: malloc'd, a 0 behind it, with its size in *bytes; `binary`
 * may be null. Errors: the driver's; CL_INVALID_VALUE if the program isn't for that device; CL_OUT_OF_HOST_MEMORY. */
cl_int gs_binary_read(const struct gs_context *ctx, cl_program program, unsigned char **binary, size_t *bytes);

/* A program was made from this binary. True: the source is known, and p->source, p->options and p->headers are set. */
bool gs_binary_find(struct gs_program *p, const void *binary, size_t bytes);

/* ---- dump.c ----
 *
 * --dump DIR: what the application's programs are, and what gpusparc makes of them, as files. NAME is a hash of a
 * program's text and options; of several units that are linked each has its number behind it.
 *
 *   NAME.cl             the source
 *   NAME.translated.cl  its translation, which runs where launches are split
 *   NAME.log            options, the driver's log, and for each kernel whether and why it can be split */

/* The application has built the program (result: err) or linked it. Only with --dump. May translate: takes long. */
void gs_dump_built(struct gs_program *p, cl_int err);

/* The translation didn't compile: appends the driver's log to NAME.log. With the program's lock. */
void gs_dump_refused(struct gs_program *p, const char *driver_log);

/* The driver's log of a program's build for a device, malloc'd; NULL: none. */
char *gs_build_log(cl_program program, cl_device_id dev);

/* ---- kinds.c: what all kernel objects of one name in a program share, and the ids of programs and kernels. A kernel
 * object may be made for each launch; the driver is asked but once ---- */

/* The kind of that name; `handle` null: asks the driver for one. *new: made now. NULL: no memory. */
struct gs_kernel_kind *gs_kind_find_or_make(struct gs_program *p, cl_kernel handle, const char *name, bool *new);

/* The program's id in all processes: a hash of its text and options, or of other contents. Never 0. */
uint64_t gs_program_id(struct gs_program *p);
uint64_t gs_program_id_locked(struct gs_program *p); /* with its lock */

/* For a program without known source: it was made from these bytes; NULL: unknown, and the program's id is unique. */
void gs_program_made_of(struct gs_program *p, const void *bytes, size_t n);

/* The size record of a launch of well-formed sizes, made if need be. NULL: no memory. */
struct gs_size *gs_size_of_launch(struct gs_kernel *k, const struct gs_op *launch);

/* The program is about to be built anew: later kernels get new kinds. A kind goes with the second call. */
void gs_kinds_clear(struct gs_program *p);

#endif
