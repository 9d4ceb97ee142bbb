/* SPDX-License-Identifier: MIT */
#include "translator/flow/flow_graph.h"

#include "translator/parsing/need.h"

struct gs_flow_var {
    CXCursor var;
    uint32_t node;
};

uint32_t gs_flow_new_node(struct gs_flow *f)
{
    return ++f->n_nodes;
}

static void grow_slots(struct gs_flow *f)
{
    if (f->n_slots > 2 * f->n_vars)
        return;
    f->n_slots = f->n_slots ? 2 * f->n_slots : 256;
    f->slots = gs_need_array(f->arena, f->n_slots, sizeof *f->slots);
    for (uint32_t i = 0; i < f->n_vars; i++) {
        uint32_t h = clang_hashCursor(f->vars[i].var);
        while (f->slots[h & (f->n_slots - 1)])
            h++;
        f->slots[h & (f->n_slots - 1)] = i + 1;
    }
}

uint32_t gs_flow_node(struct gs_flow *f, CXCursor var)
{
    grow_slots(f);
    uint32_t h = clang_hashCursor(var);
    for (uint32_t at; (at = f->slots[h & (f->n_slots - 1)]); h++)
        if (clang_equalCursors(f->vars[at - 1].var, var))
            return f->vars[at - 1].node;
    GS_GROW(f->arena, f->vars, f->n_vars, f->cap_vars);
    f->vars[f->n_vars] = (struct gs_flow_var){var, gs_flow_new_node(f)};
    f->slots[h & (f->n_slots - 1)] = ++f->n_vars;
    return f->vars[f->n_vars - 1].node;
}

void gs_flow_add_edge(struct gs_flow *f, uint32_t from, uint32_t to)
{
    if (from == 0 || to == 0 || from == to)
        return;
    GS_GROW(f->arena, f->edges, f->n_edges, f->cap_edges);
    f->edges[f->n_edges++] = (struct gs_flow_edge){from, to};
}

/* A row over nodes: row[n] … row[n + 1] are the places in `at` that hold the indices of those whose node is n. `nodes`
 * is the node of the first of `count` elements of `size` bytes. */
static void make_row(struct gs_flow *f, const uint32_t *nodes, size_t size, uint32_t count, uint32_t **row,
                     uint32_t **at)
{
    const uint32_t n = f->n_nodes + 2;
    *row = gs_need_array(f->arena, n + 1, sizeof **row);
    *at = gs_need_array(f->arena, (size_t)count + 1, sizeof **at);
#define NODE(i) (*(const uint32_t *)(const void *)((const char *)nodes + (i)*size))
    for (uint32_t i = 0; i < count; i++)
        (*row)[NODE(i) + 2]++;
    for (uint32_t i = 2; i <= n; i++)
        (*row)[i] += (*row)[i - 1];
    for (uint32_t i = 0; i < count; i++)
        (*at)[(*row)[NODE(i) + 1]++] = i;
#undef NODE
}

void gs_flow_make_rows(struct gs_flow *f)
{
    make_row(f, f->n_edges ? &f->edges->from : NULL, sizeof *f->edges, f->n_edges, &f->edge_row, &f->edge_at);
    make_row(f, f->n_uses ? &f->uses->from : NULL, sizeof *f->uses, f->n_uses, &f->use_row, &f->use_at);
    make_row(f, f->n_accesses ? &f->accesses->node : NULL, sizeof *f->accesses, f->n_accesses, &f->access_row,
             &f->access_at);
    for (unsigned i = 0; i < 2; i++) {
        f->walks[i].seen = gs_need_array(f->arena, f->n_nodes + 2, sizeof *f->walks[i].seen);
        f->walks[i].queue = gs_need_array(f->arena, f->n_nodes + 2, sizeof *f->walks[i].queue);
    }
}
