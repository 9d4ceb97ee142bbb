/* SPDX-License-Identifier: MIT */
/* The graph of pointers (flow.h), as made by the walk over the functions' bodies: nodes and edges, and at the end rows
 * of edges by node. Node 0 holds nothing, and has no edges. */
#ifndef GS_TRANSLATOR_FLOW_FLOW_GRAPH_H
#define GS_TRANSLATOR_FLOW_FLOW_GRAPH_H

#include "translator/flow/flow.h"

/* Makes a node without a variable. (gs_flow_node makes a variable's node on first use.) */
uint32_t gs_flow_new_node(struct gs_flow *f);

/* What `from` holds `to` may hold too. */
void gs_flow_add_edge(struct gs_flow *f, uint32_t from, uint32_t to);

/* The rows over all nodes, once there are no more to come. */
void gs_flow_make_rows(struct gs_flow *f);

#endif
