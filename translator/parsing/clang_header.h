/* SPDX-License-Identifier: MIT */
/* clang's own header for OpenCL C, as it was when gpusparc was built: where it runs, only the library need be there. */
#ifndef GS_TRANSLATOR_PARSING_CLANG_HEADER_H
#define GS_TRANSLATOR_PARSING_CLANG_HEADER_H

extern const char gs_opencl_c_base_h[];

#endif
