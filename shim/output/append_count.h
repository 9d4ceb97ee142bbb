/* SPDX-License-Identifier: MIT */
/* How the parts' lists are put behind each other (shim/output/append.h): the host hears of the counters, and a thread
 * of ours sends what each part has appended to where it belongs. With the context's lock held; nothing blocks. */
#ifndef GS_SHIM_OUTPUT_APPEND_COUNT_H
#define GS_SHIM_OUTPUT_APPEND_COUNT_H

#include "shim/output/append.h"

/* What is appended at a time, and how much there is room for. */
struct gs_list_shape {
    uint64_t at, bytes;   /* of the list of all: where it begins in its root, and its size */
    uint32_t step, unit;  /* see struct gs_append */
    uint64_t limit, lead; /* see struct gs_append_place; the limit so that no sum of it wraps around */
};

/* How many bytes a part may have appended at most. */
static inline uint64_t gs_list_most(const struct gs_list_shape *s)
{
    return s->bytes + s->lead * s->unit;
}

/* A list while a launch is being enqueued. */
struct gs_list {
    struct gs_list_job *job; /* of that thread, until it begins */
    struct gs_append_place at;
    cl_mem own[GS_MAX_DEVICES]; /* scratch for the argument of part p; null: it appends to the list on its place */
    bool takes[GS_MAX_DEVICES]; /* it does because that is to have what all have appended */
    bool spread;                /* some does */
    cl_mem was;                 /* of these: the counter before, at home; scratch */
};

/* A place in a memory object. */
struct gs_list_at {
    cl_mem mem;
    uint64_t at;
};

/* One list that is to be put together. */
struct gs_list_join {
    struct gs_launching *l;
    const struct gs_list *list;
    struct gs_list_shape shape;
    struct gs_mem *root;                       /* of the list */
    struct gs_list_at own[GS_MAX_DEVICES];     /* by part: where it has appended */
    struct gs_list_at counter[GS_MAX_DEVICES]; /* likewise: where it has counted */
    unsigned n;                                /* parts */
    const cl_event *ran;                       /* by part */
    struct gs_events *done;                    /* gains the ends */
    struct gs_events *read;                    /* gains what reads home's counter */
};

/* Does place q get what the others have appended? */
static inline bool gs_list_takes(const struct gs_list_join *j, unsigned q)
{
    return !q || j->list->takes[q];
}

/* Before the launch's parts run: all that the thread will need. NULL with an error in *err. */
struct gs_list_job *gs_list_job_make(const struct gs_list_join *j, cl_int *err);
void gs_list_job_free(struct gs_list_job *job);
/* Once the parts are enqueued. Takes the job over. */
cl_int gs_list_job_begin(const struct gs_list_join *j, struct gs_list_job *job);

#endif
