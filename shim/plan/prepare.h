/* SPDX-License-Identifier: MIT */
/* What a program has beside the driver's: its translation, compiled for every device of the group before it is
 * trusted; which macros a device's compiler defines; what its binaries were built from; what --dump keeps. */
#ifndef GS_SHIM_PLAN_PREPARE_H
#define GS_SHIM_PLAN_PREPARE_H

#include "common/lock/locked.h"
#include "shim/record/size.h"

/* What the translator knows of the kernel; translates its program on the first call, and, if `compile`, compiles it for
 * every device on the first such call. NULL: the kernel can't be split, and *reason says why (a string that lives as
 * long as the program). Takes the program's lock; may take long. */
const struct gs_kernel_summary *gs_prepare(struct gs_kernel *k, bool compile, const char **reason);

/* Has that been done, so that gs_prepare doesn't take long? */
bool gs_prepared(struct gs_program *p);

/* Has it done by a thread of ours, and waits for it for most_ns: without the context's lock, unless that is 0. */
void gs_prepare_by_thread(struct gs_program *p, uint64_t most_ns);

/* Translates a program, if that hasn't been done, and says which headers on disk it was made with (see
 * gs_summary.headers); NULL where it can't be translated. Takes the program's lock; may take long. */
const char *gs_prepare_headers(struct gs_program *p);

/* A kernel of the translated program for one launch on a place, whose arguments may be set and used while other
 * launches of the same kernel are made; and back. From any thread. Null with an error in *err. */
cl_kernel gs_spare_kernel(struct gs_kernel *k, unsigned place, cl_int *err);
void gs_spare_kernel_give(struct gs_kernel *k, unsigned place, cl_kernel spare);

/* Frees what a compiled or linked program is made of. */
void gs_program_drop_units(struct gs_program *p);
/* A program that is built anew is translated anew, and its kernels are others. Waits for a thread of ours at it. */
void gs_program_clear(struct gs_program *p);
/* Frees all that this room has made of the program. */
void gs_program_free(struct gs_program *p);

/* ---- macros.c: what the device's compiler predefines. It is asked once for each device, driver and language version,
 * by a program of #ifdefs, and what it answers is kept in the cache on disk ---- */

/* Of a unit with those options: gs_translate_unit.macros, malloc'd. NULL: nobody knows, and the translator guesses. May
 * take as long as a small build. From any thread. */
char *gs_device_macros(struct gs_context *ctx, const char *options);

/* ---- binaries.c: what a program's binary was built from. Applications keep binaries to build their programs from the
 * next time (pyopencl, OpenCV); a binary that came from a source under gpusparc leads back to it, through the cache on
 * disk, so that its kernels can be split. One of a program that was linked doesn't. ---- */

/* The application was given this binary of the program. Takes the program's lock; translates it where it includes
 * headers, since those may change before the binary is used. */
void gs_binary_keep(struct gs_program *p, const void *binary, size_t bytes);

/* The driver's binary of the program for the context's first device, with a 0 behind it, owned by the caller, and how
 * many bytes it has; binary: may be null. The driver's error, CL_INVALID_VALUE where the program isn't for that device,
 * or CL_OUT_OF_HOST_MEMORY. */
cl_int gs_binary_read(const struct gs_context *ctx, cl_program program, unsigned char **binary, size_t *bytes);

/* A program was made from this binary: where its source is known p->source, p->options and p->headers are set. */
bool gs_binary_find(struct gs_program *p, const void *binary, size_t bytes);

/* ---- dump.c ----
 *
 * --dump DIR: what the application's programs are, and what gpusparc makes of them, as files. NAME is a hash of a
 * program's text and options; of several units that are linked each has its number behind it.
 *
 *   NAME.cl             the source
 *   NAME.translated.cl  its translation, which runs where launches are split
 *   NAME.log            options, the driver's log, and for each kernel whether and why it can be split */

/* The application has built the program, as `err` says, or has linked it. Nothing happens without --dump. May take
 * long: the program is translated for it. */
void gs_dump_built(struct gs_program *p, cl_int err);

/* The translation didn't compile: appends the driver's log to NAME.log. With the program's lock. */
void gs_dump_refused(struct gs_program *p, const char *driver_log);

/* What the driver says of a program's build for a device, malloc'd; NULL where it says nothing. */
char *gs_build_log(cl_program program, cl_device_id dev);

/* ---- kinds.c: what all kernel objects of one name in a program have in common. An application may make one for each
 * launch; what is known of earlier ones' launches holds for the next, and the driver needn't be asked again ---- */

/* Of the driver's kernel of that name; null: the driver is asked for it. *new: it is the first. NULL: no memory. */
struct gs_kernel_kind *gs_kind_find_or_make(struct gs_program *p, cl_kernel handle, const char *name, bool *new);

/* A program's name in all processes: a hash of its text and options, or of what else it is made from. Never 0. */
uint64_t gs_program_id(struct gs_program *p);
uint64_t gs_program_id_locked(struct gs_program *p); /* with its lock */

/* A program whose source isn't known is made from these bytes; NULL: nobody knows what it is made from. */
void gs_program_made_of(struct gs_program *p, const void *bytes, size_t n);

/* The record of a launch of well-formed sizes, made if need be: its kernel's are found then. NULL: no memory. */
struct gs_size *gs_size_of_launch(struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local);

/* The program is built anew: kernels to be made are other ones. */
void gs_kinds_clear(struct gs_program *p);

/* The program, and all its kernels, are gone. */
void gs_kinds_free(struct gs_program *p);

#endif
