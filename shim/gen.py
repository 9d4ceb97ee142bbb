#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the Khronos headers and writes what the shim needs of every function that an OpenCL loader dispatches:

  exports.map    the linker's version script: each cl* function under the version node of the specification it came with
  functions.inc  GS_FUNCTION(name) for each, in the order of the dispatch table
  passthrough.c  a definition for each function that no file of shim/api defines

usage: gen.py INCLUDE_DIR OUT_DIR API_SOURCE...
"""
import os
import re
import sys


def strip_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"//[^\n]*", " ", text)


def without_windows(text):
    """Drops the branches that only _WIN32 sees."""
    out, skip = [], []
    for line in text.splitlines():
        directive = re.match(r"\s*#\s*(if|ifdef|ifndef|else|elif|endif)\b(.*)", line)
        if directive:
            word, rest = directive.groups()
            if word in ("if", "ifdef", "ifndef"):
                windows = "_WIN32" in rest and word != "ifndef" and "!" not in rest
                skip.append(windows)
            elif word in ("else", "elif"):
                skip[-1] = False
            else:
                skip.pop()
            continue
        if not any(skip):
            out.append(line)
    return "\n".join(out)


def balanced(text, start):
    """The index after the parenthesis that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    raise ValueError("unbalanced parentheses")


def split_parameters(text):
    parts, depth, at = [], 0, 0
    for i, c in enumerate(text):
        depth += {"(": 1, ")": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append(text[at:i])
            at = i + 1
    parts.append(text[at:])
    return [" ".join(p.split()) for p in parts]


CALLBACK = re.compile(r"\(\s*CL_CALLBACK\s*\*\s*(\w*)\s*\)")


def named(parameter, i):
    """The parameter as a definition needs it: some declarations leave the name out."""
    callback = CALLBACK.search(parameter)
    if callback:
        return parameter if callback.group(1) else CALLBACK.sub(f"(CL_CALLBACK *arg{i})", parameter)
    words = [w for w in re.findall(r"\w+", parameter) if w != "const"]
    unnamed = parameter.endswith("*") or len(words) == 1 or words[-1] in ("int", "char", "long", "short")
    return f"{parameter} arg{i}" if unnamed else parameter


def parameter_name(parameter):
    callback = CALLBACK.search(parameter)
    return callback.group(1) if callback else re.search(r"(\w+)\s*(\[\d*\])?$", parameter).group(1)


def parse_prototypes(text):
    """{name: (return type, [parameter])} of every `typedef R (CL_API_CALL *cl_api_NAME)(…)`."""
    found = {}
    for m in re.finditer(r"typedef\s+([\w\s*]+?)\s*\(\s*CL_API_CALL\s*\*\s*cl_api_(\w+)\s*\)\s*\(", text):
        end = balanced(text, m.end() - 1)
        parameters = split_parameters(text[m.end():end - 1])
        result = m.group(1).replace("CL_API_ENTRY", "").strip()
        found[m.group(2)] = (result, [] if parameters == ["void"] else [named(p, i) for i, p in enumerate(parameters)])
    return found


def parse_versions(texts):
    """{name: '1.0'} from the suffix of each prototype. What the core has deprecated is as old as the core: its suffix
    names the version that deprecated it."""
    found = {}
    for header, text in texts.items():
        for m in re.finditer(r"\b(cl[A-Z]\w+)\s*\(", text):
            try:
                end = balanced(text, m.end() - 1)
            except ValueError:
                continue
            v = re.match(r"\s*CL_(?:API|EXT)_SUFFIX__VERSION_(\d)_(\d)(_DEPRECATED)?", text[end:])
            if v:
                old = v.group(3) and v.group(1) == "1" and header != "cl_ext.h"
                found.setdefault(m.group(1), "1.0" if old else f"{v.group(1)}.{v.group(2)}")
    return found


def dispatch_order(text):
    body = re.search(r"typedef struct _cl_icd_dispatch\s*\{(.*?)\}\s*cl_icd_dispatch", text, flags=re.S).group(1)
    return re.findall(r"cl_api_\w+\s+(\w+)\s*;", body)


def read_header(include, name):
    return without_windows(strip_comments(open(os.path.join(include, "CL", name), encoding="utf-8").read()))


def read_dispatch(include):
    """What parse_prototypes finds in cl_icd.h, and the names among them that the dispatch table has, in its order."""
    text = read_header(include, "cl_icd.h")
    prototypes = parse_prototypes(text)
    return prototypes, [n for n in dispatch_order(text) if n in prototypes]


def main():
    include, out, sources = sys.argv[1], sys.argv[2], sys.argv[3:]
    prototypes, names = read_dispatch(include)
    versions = parse_versions({h: read_header(include, h)
                               for h in ("cl.h", "cl_ext.h", "cl_gl.h", "cl_egl.h", "cl_icd.h")})

    defined = set()
    for s in sources:
        defined |= set(re.findall(r"\bCL_API_CALL\s+(cl[A-Z]\w+)\s*\(", open(s, encoding="utf-8").read()))

    with open(os.path.join(out, "functions.inc"), "w", encoding="utf-8") as f:
        f.write("/* Generated by shim/gen.py. */\n")
        for n in names:
            f.write(f"GS_FUNCTION({n})\n")

    with open(os.path.join(out, "exports.map"), "w", encoding="utf-8") as f:
        f.write("/* Generated by shim/gen.py. */\n")
        previous = ""
        for v in sorted({versions.get(n, "1.0") for n in names}):
            f.write(f"OPENCL_{v} {{\n  global:\n")
            for n in sorted(n for n in names if versions.get(n, "1.0") == v):
                f.write(f"    {n};\n")
            f.write(f"}}{previous};\n" if previous else "  local: gs_*;\n};\n")  # shim/leaving.c has two without a version
            previous = f" OPENCL_{v}"
        f.write("GPUSPARC_LAYER {\n  global:\n    clGetLayerInfo;\n    clInitLayer;\n};\n")

    with open(os.path.join(out, "passthrough.c"), "w", encoding="utf-8") as f:
        f.write("/* Generated by shim/gen.py: the functions that gpusparc hands on as they are. */\n"
                '#include "shim/api/api.h"\n\n')
        for n in names:
            if n in defined:
                continue
            result, parameters = prototypes[n]
            arguments = ", ".join(parameter_name(p) for p in parameters)
            f.write(f"CL_API_ENTRY {result} CL_API_CALL {n}({', '.join(parameters) or 'void'})\n{{\n")
            if n.startswith("clEnqueue") and parameters[0].startswith("cl_command_queue "):
                f.write(f"    GS_TOUCH({parameter_name(parameters[0])});\n")
            call = f"gs_real()->{n}({arguments})"
            missing = f"!gs_real()->{n}"
            if result == "void":
                f.write(f"    if ({missing})\n        return;\n    {call};\n")
            elif result != "cl_int" and re.match(r"cl_int\s*\*", parameters[-1]):
                error = parameter_name(parameters[-1])
                f.write(f"    if ({missing}) {{\n        gs_set_error({error}, CL_INVALID_OPERATION);\n"
                        f"        return 0;\n    }}\n    return {call};\n")
            else:
                value = "CL_INVALID_OPERATION" if result == "cl_int" else "0"
                f.write(f"    return {missing} ? {value} : {call};\n")
            f.write("}\n\n")


if __name__ == "__main__":
    main()
