/* SPDX-License-Identifier: MIT */
/* Private variables: their known contents, along every path and where paths meet. */
#include "translator/access/access_build_state.h"

#include <string.h>

#include "translator/parsing/flow_type.h"

enum { MAX_OBJECTS = 1 << 14, MAX_CELLS = 1 << 16, MAX_TRACKED_BYTES = 4096 };

struct gs_value gs_any(void)
{
    return (struct gs_value){.kind = GS_V_ANY};
}

struct gs_value gs_int(uint32_t node)
{
    return (struct gs_value){.kind = GS_V_INT, .node = node};
}

struct gs_value gs_pointer(struct gs_place p)
{
    return (struct gs_value){.kind = GS_V_POINTER, .place = p};
}

uint32_t gs_private_new(struct gs_builder *b, uint32_t bytes)
{
    if (b->n_objects >= MAX_OBJECTS) {
        gs_give_up(b, clang_getNullCursor(), "the kernel has too many variables for the analysis");
        return 0;
    }
    if (b->n_objects == b->objects_cap)
        b->objects = gs_grow(b, b->objects, b->n_objects, &b->objects_cap, sizeof *b->objects);
    b->objects[b->n_objects] = (struct gs_private){.bytes = bytes, .arg = -1};
    return b->n_objects++;
}

struct gs_place gs_private_place(struct gs_builder *b, uint32_t object)
{
    return (struct gs_place){GS_B_OBJECT, object, gs_node_const(b, GS_I64, 0)};
}

void gs_variable_add(struct gs_builder *b, CXCursor decl, struct gs_place place)
{
    if (b->n_variables == b->variables_cap)
        b->variables = gs_grow(b, b->variables, b->n_variables, &b->variables_cap, sizeof *b->variables);
    b->variables[b->n_variables++] = (struct gs_variable){.decl = decl, .hash = clang_hashCursor(decl), .place = place};
}

const struct gs_variable *gs_variable_find(struct gs_builder *b, CXCursor decl)
{
    unsigned hash = clang_hashCursor(decl);
    for (uint32_t i = b->n_variables; i-- > b->frame->variables;)
        if (b->variables[i].hash == hash && clang_equalCursors(b->variables[i].decl, decl))
            return &b->variables[i];
    return NULL;
}

/* ---- cells ---- */

static void set_cell(struct gs_builder *b, uint32_t cell, bool valid, const struct gs_value *v)
{
    if (b->n_trail == b->trail_cap)
        b->trail = gs_grow(b, b->trail, b->n_trail, &b->trail_cap, sizeof *b->trail);
    struct gs_cell *c = &b->cells[cell];
    b->trail[b->n_trail++] = (struct gs_saved_cell){cell, c->valid, c->value};
    c->valid = valid;
    if (valid)
        c->value = *v;
}

static uint32_t find_cell(struct gs_builder *b, uint32_t object, uint32_t offset, uint32_t bytes)
{
    for (uint32_t i = b->objects[object].first; i; i = b->cells[i - 1].next)
        if (b->cells[i - 1].offset == offset && b->cells[i - 1].bytes == bytes)
            return i - 1;
    if (b->n_cells >= MAX_CELLS) {
        gs_give_up(b, clang_getNullCursor(), "the kernel has too many variables for the analysis");
        return 0;
    }
    if (b->n_cells == b->cells_cap)
        b->cells = gs_grow(b, b->cells, b->n_cells, &b->cells_cap, sizeof *b->cells);
    b->cells[b->n_cells] =
        (struct gs_cell){.object = object, .offset = offset, .bytes = bytes, .next = b->objects[object].first};
    b->objects[object].first = b->n_cells + 1;
    return b->n_cells++;
}

/* Forgets the cells that overlap [offset, offset + bytes), but one. */
static void forget_range(struct gs_builder *b, uint32_t object, uint32_t offset, uint32_t bytes, uint32_t but)
{
    struct gs_private *o = &b->objects[object];
    if (o->arg >= 0 && bytes)
        o->arg = offset == 0 && bytes >= o->bytes ? -1 : o->arg;
    for (uint32_t i = o->first; i; i = b->cells[i - 1].next) {
        const struct gs_cell *c = &b->cells[i - 1];
        if (i - 1 != but && c->valid && c->offset < offset + bytes && offset < c->offset + c->bytes)
            set_cell(b, i - 1, false, NULL);
    }
}

void gs_private_forget(struct gs_builder *b, uint32_t object)
{
    forget_range(b, object, 0, UINT32_MAX / 2, UINT32_MAX);
    b->objects[object].arg = -1;
}

void gs_forget_exposed(struct gs_builder *b)
{
    for (uint32_t i = 0; i < b->n_objects; i++)
        if (b->objects[i].exposed)
            gs_private_forget(b, i);
}

/* A pointer kept in a variable that a loop changes is taken to stay in one buffer; where it doesn't, no places are
 * known. */
static void check_pin(struct gs_builder *b, uint32_t object, const struct gs_value *v, CXCursor at)
{
    const struct gs_private *o = &b->objects[object];
    if (!o->pinned)
        return;
    if (v && v->kind == GS_V_POINTER && !v->otherwise && v->place.base == o->pin.base && v->place.index == o->pin.index)
        return;
    for (const struct gs_value *p = v; p && p->kind == GS_V_POINTER; p = p->otherwise)
        if (p->place.base == GS_B_UNKNOWN || o->pin.base == GS_B_UNKNOWN)
            v = NULL;
    if (v && v->kind == GS_V_POINTER) /* the flow has followed all that it may be */
        gs_give_up(b, at, "a loop changes to what a pointer leads");
    else
        gs_lost_pointer(b, at);
}

static void put(struct gs_builder *b, uint32_t object, uint32_t offset, uint32_t bytes, const struct gs_value *v,
                CXCursor at)
{
    if (v->kind == GS_V_POINTER)
        check_pin(b, object, v, at);
    if (b->objects[object].arg >= 0)
        b->objects[object].arg = -1; /* the other bytes of it were read before, or are forgotten */
    uint32_t cell = find_cell(b, object, offset, bytes);
    forget_range(b, object, offset, bytes, cell);
    set_cell(b, cell, true, v);
}

/* The whole object's constant place, or false. */
static bool constant_offset(const struct gs_builder *b, const struct gs_place *p, uint32_t bytes, uint32_t *offset)
{
    int64_t v;
    if (!gs_node_is_const(b, p->offset, &v) || v < 0 || v > MAX_TRACKED_BYTES ||
        (uint64_t)v + bytes > b->objects[p->index].bytes)
        return false;
    *offset = (uint32_t)v;
    return true;
}

struct gs_value gs_opaque_value(struct gs_builder *b, const struct gs_type *t, CXCursor at, const char *why)
{
    struct gs_value v = gs_any();
    if (t->class == GS_T_INT) {
        v = gs_int(gs_node_opaque(b, t->is_bool ? GS_U8 : t->int_type, at, why));
        if (t->is_bool)
            v.node = gs_node_not(b, gs_node_not(b, v.node));
        if (t->is_bool)
            v.node = gs_node_cast(b, GS_U8, v.node);
    } else if (t->class == GS_T_VECTOR && t->of_ints) {
        v.kind = GS_V_VECTOR;
        v.n = t->count;
        for (uint32_t i = 0; i < v.n; i++)
            v.parts[i] = gs_node_opaque(b, t->int_type, at, why);
    } else if (gs_type_is_address(t)) {
        v = gs_pointer((struct gs_place){GS_B_UNKNOWN, 0, gs_node_const(b, GS_I64, 0)});
    } else if (t->class == GS_T_RECORD) {
        v.kind = GS_V_RECORD;
        v.place = gs_private_place(b, gs_private_new(b, t->size));
    }
    return v;
}

static struct gs_value load_scalar(struct gs_builder *b, uint32_t object, uint32_t offset, const struct gs_type *t,
                                   CXCursor at)
{
    for (uint32_t i = b->objects[object].first; i; i = b->cells[i - 1].next) {
        const struct gs_cell *c = &b->cells[i - 1];
        if (c->valid && c->offset == offset && c->bytes == t->size) {
            if (t->class == GS_T_INT && c->value.kind == GS_V_INT)
                return gs_int(gs_node_cast(b, t->int_type, c->value.node));
            if (t->class == GS_T_POINTER && c->value.kind == GS_V_POINTER)
                return c->value;
        }
    }
    struct gs_value v;
    int32_t arg = b->objects[object].arg;
    if (arg >= 0 && t->class == GS_T_INT && !t->is_bool)
        v = gs_int(gs_node_arg(b, t->int_type, (uint32_t)arg, offset));
    else
        v = gs_opaque_value(b, t, at, "a private variable's value is not known here");
    if (v.kind == GS_V_INT) { /* the same value when it is read again */
        uint32_t cell = find_cell(b, object, offset, t->size);
        if (!b->cells[cell].valid)
            set_cell(b, cell, true, &v);
    }
    return v;
}

static struct gs_type component_type(const struct gs_type *vector)
{
    return (struct gs_type){.class = GS_T_INT, .int_type = vector->int_type, .size = vector->component};
}

static struct gs_value join_pointers(struct gs_builder *b, uint32_t condition, const struct gs_value *yes,
                                     const struct gs_value *no);

/* An element of a private array of pointers, of which all are known: the one that the offset says. */
static bool load_pointer_of(struct gs_builder *b, const struct gs_place *p, uint32_t bytes, struct gs_value *v)
{
    const struct gs_private *o = &b->objects[p->index];
    uint32_t n = 0;
    if (bytes == 0 || o->arg >= 0 || o->bytes / bytes > 8)
        return false;
    for (uint32_t i = o->first; i; i = b->cells[i - 1].next) {
        const struct gs_cell *c = &b->cells[i - 1];
        if (!c->valid)
            continue;
        if (c->bytes != bytes || c->value.kind != GS_V_POINTER || c->value.otherwise)
            return false;
        const struct gs_value element = c->value;
        const uint32_t here = gs_node(b, GS_N_EQ, GS_I32, p->offset, gs_node_const(b, GS_I64, c->offset), 0);
        *v = n++ == 0 ? element : join_pointers(b, here, &element, v);
    }
    return n > 0 && (uint64_t)n * bytes == o->bytes; /* else some may have been stored at an unknown place */
}

static struct gs_value load_object(struct gs_builder *b, const struct gs_place *p, const struct gs_type *t, CXCursor at)
{
    uint32_t offset;
    struct gs_value element;
    if (t->class == GS_T_RECORD || t->class == GS_T_ARRAY)
        return (struct gs_value){.kind = GS_V_RECORD, .place = *p};
    if (!constant_offset(b, p, t->size, &offset)) {
        if (t->class == GS_T_POINTER && load_pointer_of(b, p, t->size, &element))
            return element;
        return gs_opaque_value(b, t, at, "it comes from a private array");
    }
    if (t->class == GS_T_INT || t->class == GS_T_POINTER)
        return load_scalar(b, p->index, offset, t, at);
    if (t->class != GS_T_VECTOR || !t->of_ints)
        return gs_any();
    struct gs_value v = {.kind = GS_V_VECTOR, .n = t->count};
    struct gs_type part = component_type(t);
    for (uint32_t i = 0; i < v.n; i++)
        v.parts[i] = load_scalar(b, p->index, offset + i * t->component, &part, at).node;
    return v;
}

/* Copies what is known of a struct's bytes. */
static void copy_record(struct gs_builder *b, const struct gs_place *to, const struct gs_place *from, uint32_t bytes,
                        CXCursor at)
{
    uint32_t dst, src;
    if (!constant_offset(b, to, bytes, &dst)) {
        gs_private_forget(b, to->index);
        return;
    }
    if (from->base == GS_B_OBJECT && from->index == to->index && from->offset == to->offset)
        return;
    forget_range(b, to->index, dst, bytes, UINT32_MAX);
    b->objects[to->index].arg = -1;
    if (from->base != GS_B_OBJECT || !constant_offset(b, from, bytes, &src))
        return;
    for (uint32_t i = b->objects[from->index].first; i; i = b->cells[i - 1].next) {
        struct gs_cell c = b->cells[i - 1];
        if (c.valid && c.offset >= src && c.offset + c.bytes <= src + bytes)
            put(b, to->index, c.offset - src + dst, c.bytes, &c.value, at);
    }
}

static void store_object(struct gs_builder *b, const struct gs_place *p, const struct gs_type *t,
                         const struct gs_value *v, CXCursor at)
{
    uint32_t offset;
    if (v->kind == GS_V_RECORD) {
        copy_record(b, p, &v->place, t->size, at);
        return;
    }
    if (!constant_offset(b, p, t->size, &offset)) {
        gs_private_forget(b, p->index);
        return;
    }
    if (v->kind == GS_V_INT && t->class == GS_T_INT) {
        struct gs_value cast = gs_int(gs_node_cast(b, t->int_type, v->node));
        put(b, p->index, offset, t->size, &cast, at);
    } else if (v->kind == GS_V_POINTER && t->class == GS_T_POINTER) {
        put(b, p->index, offset, t->size, v, at);
    } else if (v->kind == GS_V_VECTOR && t->class == GS_T_VECTOR && t->of_ints) {
        for (uint32_t i = 0; i < t->count; i++) {
            struct gs_value part = gs_int(v->parts[i]);
            put(b, p->index, offset + i * t->component, t->component, &part, at);
        }
    } else {
        if (t->class == GS_T_POINTER)
            check_pin(b, p->index, NULL, at);
        forget_range(b, p->index, offset, t->size, UINT32_MAX);
        b->objects[p->index].arg = -1;
    }
}

void gs_private_init(struct gs_builder *b, uint32_t object, const struct gs_type *t, const struct gs_value *v,
                     CXCursor at)
{
    struct gs_value to = gs_pointer(gs_private_place(b, object));
    gs_store(b, &to, t, v, at);
    uint32_t offset;
    if (v->kind != GS_V_RECORD || v->place.base != GS_B_OBJECT || !constant_offset(b, &v->place, t->size, &offset))
        return;
    const struct gs_private *from = &b->objects[v->place.index];
    if (offset == 0 && from->bytes == t->size && b->objects[object].bytes == t->size)
        b->objects[object].arg = from->arg; /* nobody has seen the new variable before: this holds on every path */
}

/* ---- loads and stores through any pointer ---- */

/* Through a pointer that can't be followed, to memory of type t: which is a variable's, or local, where that says so.
 */
static void through_unknown(struct gs_builder *b, const struct gs_type *t, CXCursor at)
{
    const unsigned space = clang_getAddressSpace(t->clang);
    if (space == GS_AS_LOCAL)
        return;
    if (space != GS_AS_PRIVATE)
        gs_lost_pointer(b, at);
    gs_forget_exposed(b);
}

static uint32_t enter_choice(struct gs_builder *b, const struct gs_value *pointer, bool first)
{
    uint32_t outside = b->context;
    gs_scope_push(b, GS_C_GUARD, pointer->node, first);
    return outside;
}

static struct gs_value load_buffer(struct gs_builder *b, const struct gs_place *p, const struct gs_type *t, CXCursor at)
{
    struct gs_value v = {.kind = GS_V_VECTOR, .n = t->count};
    if (t->class == GS_T_INT && !t->is_bool)
        return gs_int(gs_node_load(b, t->int_type, p->index, p->offset, at));
    if (t->class != GS_T_VECTOR || !t->of_ints)
        return gs_opaque_value(b, t, at, "it is loaded from a buffer");
    for (uint32_t i = 0; i < v.n; i++) {
        const uint32_t ahead = gs_node_const(b, GS_I64, (int64_t)i * t->component);
        v.parts[i] = gs_node_load(b, t->int_type, p->index, gs_node(b, GS_N_ADD, GS_I64, p->offset, ahead, 0), at);
    }
    return v;
}

/* A load through a pointer that can't be followed: it may read any argument of the type's address space that is read at
 * all, and changes nothing. Not where the type doesn't tell the space. */
static struct gs_value load_unknown(struct gs_builder *b, const struct gs_type *t, CXCursor at)
{
    const unsigned space = clang_getAddressSpace(t->clang);
    const bool a_buffer = space != GS_AS_PRIVATE && space != GS_AS_LOCAL;
    if (a_buffer && space != GS_AS_GLOBAL && space != GS_AS_CONSTANT)
        through_unknown(b, t, at);
    const enum gs_arg_kind kind = space == GS_AS_CONSTANT ? GS_ARG_CONSTANT : GS_ARG_GLOBAL;
    for (uint32_t i = 0; i < b->n_args && a_buffer && !b->failed; i++) {
        struct gs_place p = {GS_B_ARG, i, GS_NO_NODE};
        if (b->args[i].kind != kind || !b->args[i].may_read) /* the flow has followed all that pointers may be */
            continue;
        p.offset = gs_node_opaque(b, GS_I64, at, "it is read through a pointer that can't be followed");
        gs_record(b, GS_A_READ, &p, t->size, true, at);
    }
    return gs_opaque_value(b, t, at, "it is loaded through a pointer that can't be followed");
}

struct gs_value gs_load(struct gs_builder *b, const struct gs_value *pointer, const struct gs_type *t, CXCursor at)
{
    if (pointer->kind != GS_V_POINTER)
        return load_unknown(b, t, at);
    if (pointer->otherwise) {
        struct gs_value first = *pointer;
        first.otherwise = NULL;
        uint32_t outside = enter_choice(b, pointer, true);
        struct gs_value x = gs_load(b, &first, t, at);
        b->context = outside;
        enter_choice(b, pointer, false);
        struct gs_value y = gs_load(b, pointer->otherwise, t, at);
        b->context = outside;
        return gs_join(b, pointer->node, &x, &y);
    }
    const struct gs_place *p = &pointer->place;
    switch (p->base) {
    case GS_B_OBJECT:
        return load_object(b, p, t, at);
    case GS_B_ARG:
        gs_record(b, GS_A_READ, p, t->size, true, at);
        return load_buffer(b, p, t, at);
    case GS_B_LOCAL:
        return gs_opaque_value(b, t, at, "it is loaded from local memory");
    case GS_B_FIXED:
    case GS_B_IMAGE:
        return gs_opaque_value(b, t, at, "it comes from a table of constants");
    case GS_B_UNKNOWN:
        break;
    }
    return load_unknown(b, t, at);
}

void gs_store(struct gs_builder *b, const struct gs_value *pointer, const struct gs_type *t, const struct gs_value *v,
              CXCursor at)
{
    if (pointer->kind != GS_V_POINTER) {
        gs_escape(b, v);
        through_unknown(b, t, at);
        return;
    }
    if (pointer->otherwise) {
        struct gs_value first = *pointer;
        first.otherwise = NULL;
        uint32_t outside = enter_choice(b, pointer, true), mark = b->n_trail;
        gs_store(b, &first, t, v, at);
        struct gs_snapshot yes = gs_snapshot(b, mark);
        gs_rollback(b, mark);
        b->context = outside;
        enter_choice(b, pointer, false);
        gs_store(b, pointer->otherwise, t, v, at);
        struct gs_snapshot no = gs_snapshot(b, mark);
        gs_rollback(b, mark);
        b->context = outside;
        gs_apply_joined(b, pointer->node, &yes, &no);
        return;
    }
    const struct gs_place *p = &pointer->place;
    if (p->base == GS_B_OBJECT) {
        store_object(b, p, t, v, at);
        return;
    }
    gs_escape(b, v);
    if (p->base == GS_B_ARG) {
        gs_record(b, GS_A_WRITE, p, t->size, gs_type_is_whole(t), at);
    } else if (p->base == GS_B_UNKNOWN) {
        through_unknown(b, t, at);
    }
}

/* ---- paths ---- */

struct gs_snapshot gs_snapshot(struct gs_builder *b, uint32_t mark)
{
    struct gs_snapshot s = {0};
    uint32_t most = b->n_trail - mark;
    if (most == 0)
        return s;
    s.v = gs_arena_alloc(&b->arena, most, sizeof *s.v);
    if (!s.v) {
        gs_give_up(b, clang_getNullCursor(), "out of memory");
        return s;
    }
    b->stamp++;
    for (uint32_t i = mark; i < b->n_trail; i++) {
        uint32_t cell = b->trail[i].cell;
        if (b->cells[cell].stamp == b->stamp)
            continue;
        b->cells[cell].stamp = b->stamp;
        s.v[s.n++] = (struct gs_saved_cell){cell, b->cells[cell].valid, b->cells[cell].value};
    }
    return s;
}

void gs_rollback(struct gs_builder *b, uint32_t mark)
{
    while (b->n_trail > mark) {
        const struct gs_saved_cell *t = &b->trail[--b->n_trail];
        b->cells[t->cell].valid = t->valid;
        b->cells[t->cell].value = t->value;
    }
}

void gs_apply(struct gs_builder *b, const struct gs_snapshot *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        set_cell(b, s->v[i].cell, s->v[i].valid, &s->v[i].value);
}

static const struct gs_value *keep(struct gs_builder *b, const struct gs_value *v)
{
    struct gs_value *copy = gs_arena_alloc(&b->arena, 1, sizeof *copy);
    if (copy)
        *copy = *v;
    else
        gs_give_up(b, clang_getNullCursor(), "out of memory");
    return copy;
}

static struct gs_value join_pointers(struct gs_builder *b, uint32_t condition, const struct gs_value *yes,
                                     const struct gs_value *no)
{
    struct gs_value v = *yes;
    bool simple = !yes->otherwise && !no->otherwise;
    if (simple && yes->place.base == no->place.base && yes->place.index == no->place.index) {
        v.place.offset = gs_node(b, GS_N_SELECT, GS_I64, condition, yes->place.offset, no->place.offset);
        return v;
    }
    if (yes->otherwise) /* not more than one alternative on this side */
        return gs_pointer((struct gs_place){GS_B_UNKNOWN, 0, gs_node_const(b, GS_I64, 0)});
    v.node = condition;
    v.otherwise = keep(b, no);
    return v;
}

struct gs_value gs_join(struct gs_builder *b, uint32_t condition, const struct gs_value *yes, const struct gs_value *no)
{
    int64_t c;
    if (gs_node_is_const(b, condition, &c))
        return c ? *yes : *no;
    if (yes->kind != no->kind)
        return gs_any();
    struct gs_value v = *yes;
    if (v.kind == GS_V_INT) {
        uint8_t type = b->nodes[yes->node].type;
        v.node = gs_node(b, GS_N_SELECT, type, condition, yes->node, gs_node_cast(b, type, no->node));
    } else if (v.kind == GS_V_VECTOR && yes->n == no->n) {
        for (uint32_t i = 0; i < v.n; i++)
            v.parts[i] = gs_node(b, GS_N_SELECT, b->nodes[yes->parts[i]].type, condition, yes->parts[i],
                                 gs_node_cast(b, b->nodes[yes->parts[i]].type, no->parts[i]));
    } else if (v.kind == GS_V_POINTER) {
        v = join_pointers(b, condition, yes, no);
    } else if (v.kind == GS_V_RECORD && yes->place.base == no->place.base && yes->place.index == no->place.index &&
               yes->place.offset == no->place.offset) {
        return v;
    } else {
        return gs_any();
    }
    return v;
}

static void join_cell(struct gs_builder *b, uint32_t condition, uint32_t cell, const struct gs_saved_cell *yes,
                      const struct gs_saved_cell *no)
{
    struct gs_saved_cell now = {cell, b->cells[cell].valid, b->cells[cell].value};
    yes = yes ? yes : &now;
    no = no ? no : &now;
    if (!yes->valid || !no->valid) {
        set_cell(b, cell, false, NULL);
        return;
    }
    struct gs_value v = gs_join(b, condition, &yes->value, &no->value);
    set_cell(b, cell, v.kind != GS_V_ANY, &v);
}

void gs_apply_joined(struct gs_builder *b, uint32_t condition, const struct gs_snapshot *yes,
                     const struct gs_snapshot *no)
{
    uint32_t stamp = ++b->stamp;
    for (uint32_t i = 0; i < no->n; i++) {
        b->cells[no->v[i].cell].stamp = stamp;
        b->cells[no->v[i].cell].slot = i;
    }
    for (uint32_t i = 0; i < yes->n && !b->failed; i++) {
        struct gs_cell *c = &b->cells[yes->v[i].cell];
        bool both = c->stamp == stamp;
        c->stamp = 0;
        join_cell(b, condition, yes->v[i].cell, &yes->v[i], both ? &no->v[c->slot] : NULL);
    }
    for (uint32_t i = 0; i < no->n && !b->failed; i++)
        if (b->cells[no->v[i].cell].stamp == stamp)
            join_cell(b, condition, no->v[i].cell, NULL, &no->v[i]);
}

void gs_exit_add(struct gs_builder *b, struct gs_exits *e, uint32_t condition, uint32_t mark,
                 const struct gs_value *value)
{
    if (e->n == e->cap)
        e->v = gs_grow(b, e->v, e->n, &e->cap, sizeof *e->v);
    e->v[e->n++] = (struct gs_exit){condition, gs_snapshot(b, mark), *value};
}

struct gs_value gs_exits_join(struct gs_builder *b, struct gs_exits *e)
{
    if (e->n == 0)
        return gs_any();
    uint32_t mark = b->n_trail;
    struct gs_value value = e->v[e->n - 1].value;
    struct gs_snapshot state = e->v[e->n - 1].state;
    for (uint32_t i = e->n - 1; i-- > 0 && !b->failed;) {
        value = gs_join(b, e->v[i].condition, &e->v[i].value, &value);
        gs_apply_joined(b, e->v[i].condition, &e->v[i].state, &state);
        state = gs_snapshot(b, mark);
        gs_rollback(b, mark);
    }
    gs_apply(b, &state);
    return value;
}
