/* SPDX-License-Identifier: MIT */
/* A growing set of packed states, found by hash. Private to gema/makespan*.c. */
#ifndef GS_GEMA_MAKESPAN_LAYER_H
#define GS_GEMA_MAKESPAN_LAYER_H

#include "gema/makespan_model.h"

struct gs_mk_entry {
    uint32_t cycles; /* of the longest path found to this state */
    uint32_t bound;  /* of what is still to come */
    uint32_t parent; /* index in the layer `back` layers before */
    uint32_t back;
};

/* All zero is an empty layer. */
struct gs_mk_layer {
    uint64_t *keys; /* n * words */
    struct gs_mk_entry *entry;
    uint32_t n, room;
    uint32_t *slot; /* index + 1, 0 where free; dropped by gs_mk_layer_close() */
    uint32_t n_slots;
};

/* The index of the state, added with a zeroed entry where it is new (*is_new). -ENOMEM, or -E2BIG past 2^31 states. */
int64_t gs_mk_layer_put(struct gs_mk_layer *l, const struct gs_mk_model *m, const uint64_t *key, bool *is_new);

/* Nothing will be looked up any more. */
void gs_mk_layer_close(struct gs_mk_layer *l);
void gs_mk_layer_free(struct gs_mk_layer *l);
size_t gs_mk_layer_bytes(const struct gs_mk_layer *l, const struct gs_mk_model *m);

#endif
