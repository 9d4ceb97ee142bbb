/* SPDX-License-Identifier: MIT */
/* Releases while a command stands behind a gate. No object may be released while a command waits for a user event
 * without a status (API specification, clSetUserEventStatus): NVIDIA's driver damages its memory if it is a memory
 * object. The application doesn't know of gpusparc's gates (docs/glossary.md), so the table's clReleaseMemObject puts
 * the release off until the gates of that time are open. */
#ifndef GS_SHIM_EVENTS_GATES_H
#define GS_SHIM_EVENTS_GATES_H

#include "shim/events/events.h"

/* A user event behind which commands will wait: a gate until gs_event_end. Null with an error in *err. */
cl_event gs_gate_new(cl_context ctx, cl_int *err);

/* Starts the thread that releases. False: there is none. */
bool gs_gates_start(void);

/* Puts of(object) off, while a gate is shut or an earlier release waits; that thread calls it then, without locks.
 * False: the caller calls it. Waits a moment for gates that are being opened. always: is put off in any case. */
bool gs_gate_waits(void (*of)(void *), void *object, bool always);

/* Releases a memory object that no command has as an argument. */
void gs_release_now(void *mem);

#endif
