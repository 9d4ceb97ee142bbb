/* SPDX-License-Identifier: MIT */
/* clang's own header for OpenCL C, as of gpusparc's build: at run time only clang's library is needed. */
#ifndef GS_TRANSLATOR_PARSING_CLANG_HEADER_H
#define GS_TRANSLATOR_PARSING_CLANG_HEADER_H

extern const char gs_opencl_c_base_h[];

#endif
