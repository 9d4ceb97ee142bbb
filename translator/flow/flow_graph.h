/* SPDX-License-Identifier: MIT */
/* The graph of where pointers go (flow.h), as the walk over the functions' bodies makes it: nodes and edges, and in the
 * end the rows by which others go along it. Node 0 holds nothing, and has no edges. */
#ifndef GS_TRANSLATOR_FLOW_FLOW_GRAPH_H
#define GS_TRANSLATOR_FLOW_FLOW_GRAPH_H

#include "translator/flow/flow.h"

/* A node of no variable. The node of one is gs_flow_node's, which makes it when it is first asked for. */
uint32_t gs_flow_new_node(struct gs_flow *f);

/* What `from` holds `to` may hold too. */
void gs_flow_add_edge(struct gs_flow *f, uint32_t from, uint32_t to);

/* The rows over all nodes, once there are no more to come. */
void gs_flow_make_rows(struct gs_flow *f);

#endif
