/* SPDX-License-Identifier: MIT */
/* Types as clang's interface shows them, made fit for following pointers. Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_PARSING_FLOW_TYPE_H
#define GS_TRANSLATOR_PARSING_FLOW_TYPE_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stdint.h>

/* OpenCL's address spaces as clang_getAddressSpace numbers them, whatever the target. */
enum { GS_AS_NONE = 0, GS_AS_GLOBAL = 1, GS_AS_LOCAL = 2, GS_AS_CONSTANT = 3, GS_AS_PRIVATE = 4, GS_AS_GENERIC = 5 };

/* The type of a parameter inside the function: a pointer if it is written as an array. */
CXType gs_parameter_type(CXCursor param);

/* The canonical type of an expression or variable. */
CXType gs_flow_type(CXCursor e);

bool gs_is_array(CXType t);
bool gs_is_pointer(CXType t);

/* Can a value of the type hold pointers that are worth following? Numbers can't: pointers made into numbers escape. */
bool gs_holds_pointers(CXType t);

/* The address space of what a pointer points to. */
unsigned gs_space_behind(CXType pointer);

/* May memory of that address space be a buffer's? */
bool gs_may_be_global(unsigned space);

/* The integer type, an enum gs_int_type (access_program.h), of a canonical type; of a bool that of its byte. False: it
 * is none. */
bool gs_int_type_of(CXType t, uint8_t *type);

#endif
