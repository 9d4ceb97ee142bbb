/* SPDX-License-Identifier: MIT */
/* Carries sends out through memory that source and targets both reach, in pieces: a piece leaves its source while the
 * piece before is taken. With the context's lock held; nothing blocks. */
#ifndef GS_SHIM_TRANSFER_SENDS_H
#define GS_SHIM_TRANSFER_SENDS_H

#include "shim/report/report.h"
#include "shim/put/put.h"
#include "shim/transfer/rounds.h"
#include "shim/transfer/windows.h"

/* Where the rows are: in a buffer, an image, or the host's memory. */
struct gs_location {
    cl_mem mem;
    char *ptr;          /* of the host's memory, where no gaps are between rows; mem is null then */
    uint64_t at, pitch; /* where the first begins in mem, and how far apart they are; of packed rows their width */
    const struct gs_mem *image; /* whose texels are in mem, laid out without gaps as far as `at` goes; or null */
};

/* A command of a transfer: in which queue, after what; and its end, which is the caller's. */
struct gs_step {
    cl_command_queue queue;
    const struct gs_events *after;
    cl_event *end;
    unsigned place; /* the device of the queue */
    enum gs_via via;
};

/* Moves rows of r->width bytes by one command; of an image one row, which is whole rows of texels. */
cl_int gs_move(const struct gs_location *from, const struct gs_location *to, const struct gs_rect *r,
               const struct gs_step *step);

/* Such memory: pinned memory of the host's, or a window of each place. */
struct gs_passage {
    uint64_t slot_bytes; /* a piece has no more */
    unsigned ring_slots;
    char *host; /* null: it goes by windows */
    const struct gs_windows *windows;
    cl_kernel pack;       /* pieces of a window may go together by it (pack.h); or null */
    struct gs_ring *ring; /* one, or of windows one for each place */
};

/* Enqueues the rest of sends that have been joined. Bytes of a root are noted at the target (gs_pending_add), and leave
 * by a queue of their own: they don't wait for bytes that arrive at their source. Without a root (null) they leave by
 * the queue for arrivals. */
cl_int gs_sends_carry(struct gs_command *cmd, struct gs_mem *root, struct gs_sends *sends,
                      const struct gs_passage *passage);

/* The last piece has been enqueued for a target. */
cl_int gs_sends_end(struct gs_mem *root, const struct gs_send *send, const struct gs_target *to);

/* Not all of them could be enqueued: pieces on their way arrive all the same, and later commands wait for them. Their
 * bytes don't count as valid. */
void gs_sends_leave(struct gs_context *ctx, struct gs_mem *root, const struct gs_sends *sends);

/* What is enqueued for a part bears its number. */
#define GS_LABEL_TARGET(to) GS_LABEL(part, (to)->part < 0 ? gs_label.part : (to)->part)

#endif
