#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the Khronos headers and writes what the shim needs of every function that an OpenCL loader dispatches:

  exports.map    the linker's version script: each cl* function under the version node of the specification it came with
  functions.inc  GS_FUNCTION(name, version) for each, in the order of the dispatch table; the version is 12 for 1.2, and
                 0 for a function of an extension
  passthrough.c  a definition for each function that no file of shim/api defines: it hands the call on, and counts the
                 application's references to what has a record of ours

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
    return [re.sub(r"\* (?=\w)", "*", " ".join(p.split())) for p in parts]


# A function of each version, without which the headers weren't understood.
REQUIRED = {"clGetPlatformIDs", "clSetEventCallback", "clCreateSubDevices", "clCreateCommandQueueWithProperties",
            "clGetDeviceAndHostTimer", "clSetProgramSpecializationConstant", "clCreateBufferWithProperties"}
CALLBACK = re.compile(r"\(\s*CL_CALLBACK\s*\*\s*(\w*)\s*\)")


# What has a record of ours, by what a function's name says after clRetain or clRelease.
RECORDS = {"Context": "GS_CONTEXT", "CommandQueue": "GS_QUEUE", "MemObject": "GS_MEM", "Program": "GS_PROGRAM",
           "Kernel": "GS_KERNEL", "Event": "GS_EVENT"}

# Commands that go on by a function of shim/driver/enqueue.h: pooled memory has queues of its own.
ENQUEUES = {"clEnqueueMarkerWithWaitList": "gs_enqueue_marker", "clEnqueueBarrierWithWaitList": "gs_enqueue_barrier",
            "clEnqueueMarker": "gs_enqueue_marker_1_1", "clEnqueueBarrier": "gs_enqueue_barrier_1_1",
            "clEnqueueWaitForEvents": "gs_enqueue_wait_1_1"}


def parameter_name(parameter):
    callback = CALLBACK.search(parameter)
    return callback.group(1) if callback else re.search(r"(\w+)\s*(\[\d*\])?$", parameter).group(1)


def parse_prototypes(header, text):
    """{name: (return type, [parameter], version, whether it is the core's)} of every `extern CL_API_ENTRY R CL_API_CALL clNAME(...) SUFFIX`: the
    one form that the headers of every year have. The suffix names the version, but where the core has deprecated
    a function it names the version that did so: those are as old as the core."""
    found = {}
    for m in re.finditer(r"\bCL_API_ENTRY\s+([\w\s*]+?)\s*\bCL_API_CALL\s+(cl[A-Z]\w+)\s*\(", text):
        end = balanced(text, m.end() - 1)
        parameters = split_parameters(text[m.end():end - 1])
        result = " ".join(w for w in m.group(1).split() if not re.match(r"CL_(API|EXT)_PREFIX_", w))
        suffix = re.match(r"\s*CL_(?:API|EXT)_SUFFIX__VERSION_(\d)_(\d)(_DEPRECATED)?", text[end:])
        old = not suffix or (suffix.group(3) and suffix.group(1) == "1" and header != "cl_ext.h")
        version = "1.0" if old else f"{suffix.group(1)}.{suffix.group(2)}"
        found.setdefault(m.group(2), (result, [] if parameters == ["void"] else parameters, version, header == "cl.h"))
    return found


def dispatch_order(text):
    """The members of the dispatch table that are functions: `cl_api_clX clX;` before 2023.12, `clX_t *clX;` since."""
    body = re.search(r"typedef struct _cl_icd_dispatch\s*\{(.*?)\}\s*cl_icd_dispatch", text, flags=re.S)
    names = re.findall(r"\bcl\w+\s*\*?\s*\b(cl[A-Z]\w+)\s*;", body.group(1)) if body else []
    return list(dict.fromkeys(names))


def read_header(include, name):
    with open(os.path.join(include, "CL", name), encoding="utf-8") as f:
        return without_windows(strip_comments(f.read()))


def read_dispatch(include):
    """The prototypes that the headers declare, and the names among them that the dispatch table has, in its order."""
    prototypes = {}
    for header in ("cl.h", "cl_ext.h", "cl_gl.h", "cl_egl.h"):
        for name, prototype in parse_prototypes(header, read_header(include, header)).items():
            prototypes.setdefault(name, prototype)
    names = [n for n in dispatch_order(read_header(include, "cl_icd.h")) if n in prototypes]
    missing = sorted(REQUIRED - set(names))
    if missing:
        sys.exit(f"gen.py: {include}/CL: {len(names)} functions of the dispatch table were found, and {missing[0]} is not "
                 "among them; these OpenCL headers have a form that gen.py doesn't read")
    return prototypes, names


def main():
    include, out, sources = sys.argv[1], sys.argv[2], sys.argv[3:]
    prototypes, names = read_dispatch(include)
    versions = {n: prototypes[n][2] for n in names}

    defined = set()
    for s in sources:
        defined |= set(re.findall(r"\bCL_API_CALL\s+(cl[A-Z]\w+)\s*\(", open(s, encoding="utf-8").read()))

    with open(os.path.join(out, "functions.inc"), "w", encoding="utf-8") as f:
        f.write("/* Generated by shim/gen.py. */\n")
        for n in names:
            _, _, version, core = prototypes[n]
            f.write(f"GS_FUNCTION({n}, {version.replace('.', '') if core else 0})\n")

    with open(os.path.join(out, "exports.map"), "w", encoding="utf-8") as f:
        f.write("/* Generated by shim/gen.py. */\n")
        previous = ""
        for v in sorted({versions[n] for n in names}):
            f.write(f"OPENCL_{v} {{\n  global:\n")
            for n in sorted(n for n in names if versions[n] == v):
                f.write(f"    {n};\n")
            # shim/process/exit.c has two without a version
            f.write(f"}}{previous};\n" if previous else "  local: gs_*; __start_gs_*;\n};\n")
            previous = f" OPENCL_{v}"
        f.write("GPUSPARC_LAYER {\n  global:\n    clGetLayerInfo;\n    clInitLayer;\n};\n")

    with open(os.path.join(out, "passthrough.c"), "w", encoding="utf-8") as f:
        f.write("/* Generated by shim/gen.py: the functions that gpusparc hands on as they are. */\n"
                '#include "shim/api/api.h"\n#include "shim/report/watch.h"\n\n')
        for n in names:
            if n in defined:
                continue
            result, parameters, _, _ = prototypes[n]
            arguments = ", ".join(parameter_name(p) for p in parameters)
            f.write(f"CL_API_ENTRY {result} CL_API_CALL {n}({', '.join(parameters) or 'void'})\n{{\n")
            blocking = [parameter_name(p) for p in parameters if " blocking_" in p]  # of shared virtual memory
            if blocking:
                f.write(f'    GS_CALL("{n}");\n')
            if n.startswith("clEnqueue") and parameters[0].startswith("cl_command_queue "):
                f.write(f"    GS_TOUCH({parameter_name(parameters[0])});\n")
            call = f"{ENQUEUES.get(n, f'gs_real()->{n}')}({arguments})"
            reference = re.fullmatch(r"cl(Retain|Release)(\w+)", n)
            record = reference and RECORDS.get(reference.group(2))
            if record and reference.group(1) == "Retain":
                f.write(f"    return gs_retained({call}, {record}, {arguments});\n}}\n\n")
                continue
            if record:
                f.write(f"    struct gs_object *last = gs_release({record}, {arguments});\n"
                        f"    return gs_released(last, {call});\n}}\n\n")
                continue
            missing = f"!gs_real()->{n}"
            if blocking:
                reads = "flags & CL_MAP_READ" if "cl_map_flags flags" in parameters else "true"
                f.write(f"    const cl_int err = {missing} ? CL_INVALID_OPERATION : {call};\n"
                        f"    return gs_svm_end(err, {reads}, {blocking[0]});\n}}\n\n")
                continue
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
