/* SPDX-License-Identifier: MIT */
/* A library that writes down what comes after what, twice: it is preloaded before gpusparc, where it sees what the
 * application asks for, and is a layer of the OpenCL loader below, where it sees what the driver is asked for. The
 * program graph.py looks at what it wrote. It knows nothing of shim/.
 *
 * Below it carries each command out before the call returns, unless that has to wait for a user event: so each launch
 * can be looked at by itself for what it writes, and the outcome is that of the order in which commands are enqueued,
 * whatever waits are missing. Nobody gets to see that: a command's end shows to who waits for it, by a callback some
 * time later, or to who asks again and again.
 *
 * GRAPH names the file, to which ".PID" is added. Its lines, in the order in which things happened (a capital letter:
 * above; a small one: below):
 *   C ID CALL NAME BEFORE...              a command, by which call of the application's (0: a thread of gpusparc's),
 * and the numbers of those that it comes after, by its wait list and (with a +) by its queue. After a "|" follow its
 * bytes: r, w, s (written, but they were so before) or u (written, and it isn't known whether they were), the object
 * (0: the host's memory), begin, length and, for rows, pitch, rows, slices' pitch and slices.
 *   U ID, S ID [failed]                   a user event is made, is set
 *   J ID...                               the host knows that these have ended
 *   g READER WRITER                       what the one took from under the other is spoiled where it lies (flow.c) */
#ifndef GRAPH_H
#define GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "../opencl.h"

enum graph_level { GRAPH_BELOW, GRAPH_ABOVE, GRAPH_LEVELS };

extern struct _cl_icd_dispatch graph_below;  /* the driver */
extern _Thread_local unsigned graph_call;    /* the application's command that this thread is in; or 0 */
extern _Thread_local bool graph_call_writes; /* does that write to a buffer from the host's memory? */

/* How far the driver is with an event. */
static inline cl_int graph_status(cl_event event)
{
    cl_int status = CL_QUEUED;
    graph_below.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status;
}

void graph_start(void);
void graph_lock(void);
void graph_unlock(void);

/* ---- log.c; all with the lock held ---- */

/* Bytes of an object, or of the host's memory (object 0): rows, and slices of rows. */
struct graph_bytes {
    char access; /* 'r', 'w', 's', 'u' */
    unsigned object;
    uint64_t begin, length, pitch, rows, slice_pitch, slices;
};

__attribute__((format(printf, 1, 2))) void graph_say(const char *format, ...);
void graph_say_bytes(const struct graph_bytes *b);
/* A command's number; the line isn't ended. */
unsigned graph_command(enum graph_level level, const char *name, cl_command_queue queue, cl_uint n,
                       const cl_event *wait);
void graph_event(enum graph_level level, cl_event event, unsigned id);
unsigned graph_event_id(enum graph_level level, cl_event event);
void graph_user_event(enum graph_level level, cl_event event);
void graph_set(enum graph_level level, cl_event event, cl_int status);
/* The host has seen their ends, and so those of all before them. */
void graph_joined(enum graph_level level, cl_uint n, const unsigned *ids);
bool graph_seen(unsigned id);
/* A call of the application's that was refused. */
void graph_refused(unsigned id);
bool graph_is_refused(unsigned id);
/* Marks in `reached`, of graph_count() flags, what `id` comes after; what the host has seen it leaves out. */
unsigned graph_count(void);
void graph_reach(unsigned id, bool *reached);
/* Its number; 0 where it has failed, which may be before all that it comes after has ended. */
unsigned graph_unless_failed(cl_event event, unsigned id);
/* What clFinish waits for, for graph_joined: to be freed. */
unsigned *graph_queue_ids(enum graph_level level, cl_command_queue queue, cl_uint *n);
void graph_queue_made(cl_command_queue queue);
/* How often the event has been asked for, this time included; how long ago it was enqueued. */
unsigned graph_asked(unsigned id, uint64_t *age_ns);

/* ---- memory.c: which bytes a command touches; with the lock held ---- */

struct graph_touched {
    unsigned n;
    struct graph_bytes v[16];
};
void graph_memory_made(cl_mem mem, cl_mem parent, uint64_t origin);
unsigned graph_object(cl_mem mem, uint64_t *origin);
void graph_buffer(struct graph_touched *t, char access, cl_mem mem, uint64_t begin, uint64_t length);
void graph_host(struct graph_touched *t, char access, const void *ptr, uint64_t length);
void graph_rect(struct graph_touched *t, char access, cl_mem mem, const void *host, const size_t *origin,
                const size_t *region, size_t pitch, size_t slice);
/* Texels; all of them with a null `origin`. */
void graph_image(struct graph_touched *t, char access, cl_mem mem, const size_t *origin, const size_t *region);
uint64_t graph_image_bytes(cl_mem mem, const size_t *region);
void graph_map(struct graph_touched *t, cl_mem mem, cl_map_flags flags, const void *ptr,
               const struct graph_bytes *bytes);
void graph_unmap(struct graph_touched *t, cl_mem mem, const void *ptr);

/* What a buffer holds, to be freed; or null. */
unsigned char *graph_held(cl_mem mem, uint64_t begin, uint64_t length, cl_command_queue queue);
/* The buffer with that number; null: an image, or none. */
cl_mem graph_buffer_of(unsigned object);
bool graph_is_gone(unsigned object);
/* What is written there: w, or s for what was there before. Within words that have changed these aren't told apart
 * where `whole`: of what the application itself asks for it doesn't matter, and numbers may leave three bytes of each
 * word. */
void graph_say_written(cl_mem mem, uint64_t begin, uint64_t length, const unsigned char *was, const unsigned char *is,
                       bool whole);

/* Kernels' arguments, and what they hold before and after. */
void graph_kernel_argument(cl_kernel kernel, cl_uint index, size_t bytes, const void *value);
void graph_kernel_made(cl_kernel kernel, cl_kernel like);
/* The call that a launch of it is for: this thread's, or that in which its arguments have been set. */
unsigned graph_kernel_call(cl_kernel kernel);
struct graph_snapshot;
struct graph_snapshot *graph_before(cl_kernel kernel, cl_command_queue queue);
/* Says what the launch may read, and what it has changed if `snapshot` is one; frees that. */
void graph_after(cl_kernel kernel, cl_command_queue queue, struct graph_snapshot *snapshot);

/* ---- flow.c: what comes from where, and what is fetched from under a writer; with the lock held ---- */

/* Command `id` has moved these bytes, row by row; not `done`: it is to. */
void graph_moved(unsigned id, unsigned call, bool done, const struct graph_bytes *from, const struct graph_bytes *to);
/* A launch has changed some bytes. */
void graph_changed(unsigned object, uint64_t begin, uint64_t length);
/* All that launch `id` has changed is said, and its line in the log ended. `own`: it is the application's kernel. */
void graph_launched(unsigned id, unsigned call, bool own, cl_command_queue queue);

/* ---- callbacks.c ---- */

cl_int graph_call_back(cl_event event, cl_int type, void(CL_CALLBACK *call)(cl_event, cl_int, void *), void *data,
                       unsigned id);

#endif
