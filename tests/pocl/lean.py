# SPDX-License-Identifier: MIT
"""lean.py OUT RUN_KERNELS KERNEL: the system's PoCL with those built-in functions only that tests/pocl/builtins names, those
on vectors of 8 and 16 only where the name says so, or a + behind it.

Each process that compiles a program reads PoCL's header of them (0.9 MB) and its library (9.7 MB, a second); each that
takes a program from PoCL's cache reads the header. Most of what the tests cost was that. OUT/vendors/pocl.icd names
PoCL's own library by a path of ours, OUT/lib/NAME: beside it, in OUT/share/pocl, PoCL finds what is made here. Where
that can't be done, or KERNEL's result is another, OUT/vendors names what the system names.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

out, run_kernels, kernel = sys.argv[1:]
WIDE = re.compile(r"Dv(8|16)_|\b(u?char|u?short|u?int|u?long|float|double|half)(8|16)\b")  # vectors of 8 and of 16
INTERNAL = 8  # LLVMInternalLinkage
names = set(open(os.path.join(os.path.dirname(__file__), "builtins")).read().split())


def kept(name, declaration):
    return name + "+" in names or name in names and (name.endswith(("8", "16")) or not WIDE.search(declaration))


def header(source, target):
    """Leaves out declarations; all else, conditions among it, stays."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", open(source).read().replace("\\\n", " "), flags=re.S)
    declaration = r"^[A-Za-z_][\w \t*]*?\b__ovld\b[^;{}#]*?\b(\w+)\([^;{}#]*\)[^;{}#()]*;[ \t]*\n"
    text = re.sub(declaration, lambda m: m[0] if kept(m[1], m[0]) else "", text, flags=re.M)
    empty = re.compile(r"^#if[^\n]*\n\s*#endif[^\n]*\n", flags=re.M)
    while empty.search(text):
        text = empty.sub("", text)
    open(target, "w").write(re.sub(r"\n\s*\n+", "\n", text))


def library(llvm, source, target):
    """Leaves out functions that no built-in in `names` needs."""
    import ctypes  # python3-minimal has none

    l, p = ctypes.CDLL(llvm), ctypes.c_void_p
    for f, result, *arguments in (
        ("ContextCreate", p),
        ("CreateMemoryBufferWithContentsOfFile", ctypes.c_int, ctypes.c_char_p, p, p),
        ("ParseBitcodeInContext2", ctypes.c_int, p, p, p),
        ("GetFirstFunction", p, p),
        ("GetNextFunction", p, p),
        ("GetValueName", ctypes.c_char_p, p),
        ("IsDeclaration", ctypes.c_int, p),
        ("SetLinkage", None, p, ctypes.c_int),
        ("CreatePassBuilderOptions", p),
        ("RunPasses", p, p, ctypes.c_char_p, p, p),
        ("WriteBitcodeToFile", ctypes.c_int, p, ctypes.c_char_p),
    ):
        function = getattr(l, "LLVM" + f)
        function.restype, function.argtypes = result, arguments
    context, buffer, message, module = l.LLVMContextCreate(), p(), p(), p()
    if l.LLVMCreateMemoryBufferWithContentsOfFile(source.encode(), ctypes.byref(buffer), ctypes.byref(message)):
        raise OSError(f"{source} can't be read")
    if l.LLVMParseBitcodeInContext2(context, buffer, ctypes.byref(module)):
        raise OSError(f"{source} is no bitcode of {llvm}")
    f = l.LLVMGetFirstFunction(module)
    while f:
        symbol = l.LLVMGetValueName(f).decode()
        mangled = re.match(r"_Z(\d+)", symbol)
        if mangled:
            name = symbol[mangled.end() : mangled.end() + int(mangled[1])]
            wanted = kept(re.sub("^_cl_", "", name), symbol)
        else:
            wanted = not symbol.startswith("Sleef")
        if not wanted and not l.LLVMIsDeclaration(f):
            l.LLVMSetLinkage(f, INTERNAL)
        f = l.LLVMGetNextFunction(f)
    if l.LLVMRunPasses(module, b"globaldce,strip-dead-prototypes", None, l.LLVMCreatePassBuilderOptions()):
        raise OSError(f"{llvm} doesn't take the passes")
    if l.LLVMWriteBitcodeToFile(module, target.encode()):
        raise OSError(f"{target} can't be written")


def result():
    """What KERNEL computes over OUT/vendors; nothing where it fails."""
    cache = out + "/cache"
    shutil.rmtree(cache, ignore_errors=True)
    os.mkdir(cache)
    environment = {**os.environ, "OCL_ICD_VENDORS": out + "/vendors", "POCL_CACHE_DIR": cache, "ASAN_OPTIONS": "detect_leaks=0"}
    ran = subprocess.run([run_kernels, "-", kernel], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    shutil.rmtree(cache)
    return ran.stdout if ran.returncode == 0 else b""


def loaded(part):
    """The file of a library that this process has loaded."""
    return next(line.split()[-1] for line in open("/proc/self/maps") if part in line)


def lean():
    import ctypes

    ctypes.CDLL(open("/etc/OpenCL/vendors/pocl.icd").read().strip())
    pocl = loaded("/libpocl.so")
    # As PoCL's own folders are: LIB/libpocl.so, LIB/pocl and LIB/../../share/pocl.
    system = os.path.normpath(os.path.dirname(pocl) + "/../../share/pocl")
    ours, share = f"{out}/lib/here/{os.path.basename(pocl)}", out + "/share/pocl"
    os.makedirs(os.path.dirname(ours))
    os.makedirs(share)
    os.symlink(pocl, ours)
    os.symlink(os.path.dirname(pocl) + "/pocl", os.path.dirname(ours) + "/pocl")
    with open(out + "/vendors/pocl.icd", "w") as icd:
        icd.write(ours + "\n")
    # There is a library for each kind of processor, GENERIC for others: this one's is the one that is enough alone.
    os.symlink(system + "/include", share + "/include")
    right = b""
    for source in sorted(glob.glob(system + "/kernel-*.bc"), key=lambda s: ("GENERIC" in s, s)):
        target = f"{share}/{os.path.basename(source)}"
        os.symlink(source, target)
        right = result()
        os.unlink(target)
        if right:
            break
    os.unlink(share + "/include")
    shutil.copytree(system + "/include", share + "/include")
    header(system + "/include/opencl-c.h", share + "/include/opencl-c.h")
    library(loaded("/libLLVM"), source, target)
    if not right or result() != right:
        raise OSError(f"{os.path.basename(kernel)} doesn't run over it")


def begin():
    """OUT is cmake's folder as well, with a file that `cmake --install` reads."""
    for folder in ("cache", "lib", "share", "vendors"):
        shutil.rmtree(f"{out}/{folder}", ignore_errors=True)
    os.makedirs(out + "/vendors")


begin()
child = os.fork()  # LLVM ends the process where something is wrong
if child == 0:
    try:
        lean()
        os._exit(0)
    except BaseException as error:
        print(f"lean.py: {type(error).__name__}: {error}", flush=True)
        os._exit(1)
if os.waitpid(child, 0)[1]:  # the tests take longer then, and test the same
    print("lean.py: the tests have PoCL with all its built-in functions")
    begin()
    for icd in glob.glob("/etc/OpenCL/vendors/*.icd"):
        shutil.copy(icd, out + "/vendors")
open(out + "/made", "w").close()
