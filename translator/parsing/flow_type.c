/* SPDX-License-Identifier: MIT */
/* Types as clang's interface shows them, made fit for following pointers. */
#include "translator/parsing/flow_type.h"

#include "translator/summary/access_program.h"

bool gs_is_array(CXType t)
{
    return t.kind == CXType_ConstantArray || t.kind == CXType_IncompleteArray || t.kind == CXType_VariableArray;
}

CXType gs_parameter_type(CXCursor param)
{
    CXCursor function = clang_getCursorSemanticParent(param);
    for (int i = 0; i < clang_Cursor_getNumArguments(function); i++)
        if (clang_equalCursors(clang_Cursor_getArgument(function, (unsigned)i), param))
            return clang_getCanonicalType(
                clang_getArgType(clang_getCanonicalType(clang_getCursorType(function)), (unsigned)i));
    return clang_getCanonicalType(clang_getCursorType(param));
}

static enum CXChildVisitResult visit_decayed(CXCursor e, CXCursor parent, CXClientData type)
{
    (void)parent;
    CXCursor to = clang_getNullCursor();
    switch (e.kind) {
    case CXCursor_DeclRefExpr:
        to = clang_getCursorReferenced(e);
        if (to.kind != CXCursor_ParmDecl || !gs_is_array(clang_getCanonicalType(clang_getCursorType(to))))
            return CXChildVisit_Continue;
        *(CXType *)type = gs_parameter_type(to);
        return CXChildVisit_Break;
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr:
    case CXCursor_UnaryOperator:
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
    case CXCursor_ConditionalOperator:
        return CXChildVisit_Recurse;
    default:
        return CXChildVisit_Continue;
    }
}

/* clang's interface shows the type of a parameter that is written as an array, and of what is computed from it, as that
 * array. It is a pointer. */
CXType gs_flow_type(CXCursor e)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(e));
    if (!gs_is_array(type))
        return type;
    if (e.kind == CXCursor_ParmDecl)
        return gs_parameter_type(e);
    if (visit_decayed(e, e, &type) == CXChildVisit_Recurse)
        clang_visitChildren(e, visit_decayed, &type);
    return type;
}

bool gs_is_pointer(CXType t)
{
    return t.kind == CXType_Pointer;
}

static enum CXVisitorResult visit_field(CXCursor c, CXClientData found)
{
    *(bool *)found |= gs_holds_pointers(gs_flow_type(c));
    return *(bool *)found ? CXVisit_Break : CXVisit_Continue;
}

static bool has_pointer_field(CXType record)
{
    bool found = false;
    clang_Type_visitFields(record, visit_field, &found);
    return found;
}

bool gs_holds_pointers(CXType t)
{
    switch (t.kind) {
    case CXType_Pointer:
        return true;
    case CXType_Record:
        return has_pointer_field(t);
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
    case CXType_VariableArray:
        return gs_holds_pointers(clang_getCanonicalType(clang_getArrayElementType(t)));
    default:
        return false;
    }
}

unsigned gs_space_behind(CXType pointer)
{
    CXType to = clang_getCanonicalType(clang_getPointeeType(pointer));
    return to.kind == CXType_Invalid ? GS_AS_NONE : clang_getAddressSpace(to);
}

bool gs_may_be_global(unsigned space)
{
    return space == GS_AS_GLOBAL || space == GS_AS_CONSTANT || space == GS_AS_GENERIC || space == GS_AS_NONE;
}

bool gs_int_type_of(CXType t, uint8_t *type)
{
    switch (t.kind) {
    case CXType_Char_S:
    case CXType_SChar:
        *type = GS_I8;
        return true;
    case CXType_Bool:
    case CXType_Char_U:
    case CXType_UChar:
        *type = GS_U8;
        return true;
    case CXType_Short:
        *type = GS_I16;
        return true;
    case CXType_UShort:
        *type = GS_U16;
        return true;
    case CXType_Int:
        *type = GS_I32;
        return true;
    case CXType_UInt:
        *type = GS_U32;
        return true;
    case CXType_Long:
    case CXType_LongLong:
        *type = GS_I64;
        return true;
    case CXType_ULong:
    case CXType_ULongLong:
        *type = GS_U64;
        return true;
    default:
        return false;
    }
}
