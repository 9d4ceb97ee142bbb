/* SPDX-License-Identifier: MIT */
/* Lists that a kernel only appends to:
 *
 *   if (...) { uint at = atomic_inc(count); if (at < most) { list[at] = v; other[at] = w; } }
 *
 * Found in the text: the atomic's result is held by a variable of the same block, whose every other occurrence is in
 * the index of a plain store of that block, in a guard of nothing but such stores, or in a variable of the same kind;
 * or the atomic itself is the index. No jump leads into or out of what lies between. So whoever takes a number stores
 * it in all of the lists, and nothing else follows from it. Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_FLOW_FLOW_APPEND_H
#define GS_TRANSLATOR_FLOW_FLOW_APPEND_H

#include "translator/flow/flow.h"

/* The lists of a kernel, which reaches the functions that are `in`: v, of n. Their atomics and stores are then
 * `places`. 0: some access to a buffer with a list or a counter is of another kind, or there is none of this one. */
struct gs_appends {
    struct gs_append *v;
    uint32_t n, cap;
    CXCursor *places;
    uint32_t n_places, cap_places;
};

void gs_append_find(struct gs_flow *f, uint32_t kernel, const bool *in, struct gs_appends *out);

/* Is it one of the atomics or of the stores? */
bool gs_append_has(const struct gs_appends *a, CXCursor at);

#endif
