/* SPDX-License-Identifier: MIT */
/* What the analysis needs to know of C's types. */
#include "translator/access/access_build_state.h"

#include "translator/parsing/flow_type.h"

static void set_vector(struct gs_type *r, CXType c)
{
    struct gs_type part = gs_type_of(clang_getElementType(c));
    r->class = GS_T_VECTOR;
    r->count = (uint32_t)clang_getNumElements(c);
    r->of_ints = part.class == GS_T_INT && !part.is_bool && r->count <= 16;
    r->int_type = part.int_type;
    r->component = part.size;
}

struct gs_type gs_type_of(CXType t)
{
    CXType c = clang_getCanonicalType(t);
    if (c.kind == CXType_Enum)
        c = clang_getCanonicalType(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(c)));
    struct gs_type r = {.class = GS_T_OTHER, .clang = c};
    /* libclang crashes when it is asked for the size of a type that C has no name for: __builtin_inff, which INFINITY
     * is, has one until it is called. */
    long long size = c.kind == CXType_Unexposed ? 0 : clang_Type_getSizeOf(c);
    r.size = size > 0 && size < UINT32_MAX ? (uint32_t)size : 0;
    if (gs_int_type_of(c, &r.int_type)) {
        r.class = GS_T_INT;
        r.is_bool = c.kind == CXType_Bool;
        r.size = gs_int_bits(r.int_type) / 8;
        return r;
    }
    switch (c.kind) {
    case CXType_Void:
        r.class = GS_T_VOID;
        break;
    case CXType_Half:
    case CXType_Float16:
    case CXType_Float:
    case CXType_Double:
        r.class = GS_T_FLOAT;
        break;
    case CXType_Vector:
    case CXType_ExtVector:
        set_vector(&r, c);
        break;
    case CXType_Pointer:
        r.class = GS_T_POINTER;
        break;
    case CXType_Record:
        r.class = GS_T_RECORD;
        break;
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
        r.class = GS_T_ARRAY;
        r.count = c.kind == CXType_ConstantArray ? (uint32_t)clang_getArraySize(c) : 0;
        break;
    default:
        break;
    }
    return r;
}

struct gs_type gs_type_of_cursor(CXCursor c)
{
    return gs_type_of(clang_getCursorType(c));
}

bool gs_type_is_address(const struct gs_type *t)
{
    return t->class == GS_T_POINTER || t->class == GS_T_ARRAY;
}

struct gs_type gs_type_pointee(const struct gs_type *pointer)
{
    CXType t =
        pointer->class == GS_T_ARRAY ? clang_getArrayElementType(pointer->clang) : clang_getPointeeType(pointer->clang);
    struct gs_type r = gs_type_of(t);
    if (r.class == GS_T_VOID) /* arithmetic on void * counts bytes */
        r.size = 1;
    CXType value = clang_Type_getValueType(r.clang);
    if (r.class == GS_T_OTHER && value.kind != CXType_Invalid)
        r.size = gs_type_of(value).size;
    return r;
}

struct fields {
    uint64_t bytes;
    bool whole;
};

static enum CXVisitorResult add_field(CXCursor field, CXClientData data)
{
    struct fields *s = data;
    const struct gs_type t = gs_type_of_cursor(field);
    s->bytes += t.size;
    s->whole = s->whole && !clang_Cursor_isBitField(field) && gs_type_is_whole(&t);
    return s->whole ? CXVisit_Continue : CXVisit_Break;
}

/* OpenCL's vectors have 2, 3, 4, 8 or 16 components; clang allows others, which are padded as one of three is. */
static bool is_whole_vector(const struct gs_type *t)
{
    const uint32_t n = t->count;
    return n >= 1 && n <= 16 && (n & (n - 1)) == 0 && t->component != 0 && t->size == n * t->component;
}

/* A struct whose members leave no gaps. Of a union a store may change one member only. */
static bool is_whole_record(const struct gs_type *t)
{
    struct fields s = {.whole = true};
    if (clang_getTypeDeclaration(t->clang).kind != CXCursor_StructDecl)
        return false;
    clang_Type_visitFields(t->clang, add_field, &s);
    return s.whole && s.bytes == t->size;
}

bool gs_type_is_whole(const struct gs_type *t)
{
    struct gs_type element;
    if (t->partly)
        return false;
    switch (t->class) {
    case GS_T_INT:
    case GS_T_FLOAT:
    case GS_T_POINTER:
        return t->size != 0;
    case GS_T_VECTOR:
        return is_whole_vector(t);
    case GS_T_ARRAY:
        element = gs_type_of(clang_getArrayElementType(t->clang));
        return t->count != 0 && t->size == (uint64_t)t->count * element.size && gs_type_is_whole(&element);
    case GS_T_RECORD:
        return is_whole_record(t);
    default:
        return false;
    }
}
