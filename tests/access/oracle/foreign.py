#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels of others, run on the host with random launches and arguments, against what the translator says of them:
foreign.py [--launches N] [--seed N] [--options TEXT] FILE.cl...

A file is left out, with a line, where clang doesn't compile it or nothing in it can be run: no kernel, images, a struct
of more than 64 bytes by value. Functions that the oracle doesn't have return their argument; those with pointers end
the launch. The end status is 1 if there was a difference, 77 if no launch could be checked."""
import argparse
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from campaign import FLAGS, PLAIN, clang_command, oracle_command  # noqa: E402
from launches import WIDTH  # noqa: E402

STD = "CL1.2"
SPACE = {0: "", 1: "__global ", 2: "__constant ", 3: "__local "}
WIDTHS = {**WIDTH, "double": 8, "half": 2}
NO_VALUE = re.compile("image|sampler|event|queue|pipe|reserve|\\*")


class Unfit(Exception):
    pass


def call(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, errors="replace",
                          env={**os.environ, "XDG_CACHE_HOME": "/dev/null"})


def compiled(text, base, options):
    """The text in clang's own language, from which the kernels' parameters are read."""
    with open(f"{base}.text.cl", "w", encoding="utf-8") as f:
        f.write(text)
    done = call(["clang-19", *(f for f in FLAGS if not re.search("san|mllvm|shared|stdlib", f)), "-O0", "-S", "-emit-llvm", f"-cl-std={STD}",
                 "-DGS_HOST", *options, f"{base}.text.cl", "-o", f"{base}.ll"])
    if done.returncode:
        raise Unfit("doesn't compile: " + next((line for line in done.stderr.splitlines() if "error" in line), "?")[-120:])
    with open(f"{base}.ll", encoding="utf-8") as f:
        return f.read()


class Parameter:
    def __init__(self, space, name, base):
        self.space, self.name = space, name
        self.base = re.sub(r"(\w+) __attribute__\(\(ext_vector_type\((\d+)\)\)\)", r"\1\2", base)
        self.pointer = name.endswith("*")
        part = re.fullmatch(r"(?:unsigned )?(\w+?)(\d*)\**", self.base)
        self.width = WIDTHS.get(part[1]) if part else None
        self.real = bool(part) and part[1] in ("float", "double", "half")
        self.count = {"": 1, "3": 4}.get(part[2], part[2]) if self.width else None

    def word(self, i):
        return f"({SPACE[self.space]}{self.name})a[{i}]" if self.pointer else f"*({self.name} *)a[{i}]"

    def line(self, r, of):
        """What the plan says of the argument."""
        if self.space == 3:
            return f"l {r.choice([4096, 16384])}"
        if self.pointer:
            w = self.width or 4
            return r.choice(["b u 1 0 255" if self.real else f"b u {w} 0 9", f"b u {w} 0 {r.choice([1, 5, 30, 60, 100])}",
                             f"b m {w} 0 {r.choice([1, 3, 9])}"])
        if self.real:
            return "v " + b"".join(struct.pack({4: "<f", 8: "<d", 2: "<e"}[self.width], r.choice([0, .5, 1, 2, -1, 3.5, of[0]]))
                                   for _ in range(int(self.count))).hex()
        return "v " + b"".join((r.choice(of) % (1 << 8 * self.width)).to_bytes(self.width, "little") for _ in range(int(self.count))).hex()


def kernels_of(ll):
    """(name, parameters, required local size or None) of each kernel."""
    nodes = dict(re.findall(r"^!(\d+) = !\{(.*)\}$", ll, re.M))
    for line in re.findall(r"^define .*$", ll, re.M):
        about = {name: nodes.get(n, "") for name, n in re.findall(r"!(\w+) !(\d+)", line)}
        if "kernel_arg_type" in about:
            names, bases = (re.findall(r'!"([^"]*)"', about[which]) for which in ("kernel_arg_type", "kernel_arg_base_type"))
            spaces = map(int, re.findall(r"i32 (\d+)", about["kernel_arg_addr_space"]))
            size = [int(n) for n in re.findall(r"i32 (\d+)", about.get("reqd_work_group_size", ""))]
            yield re.search(r"@([\w.]+)\(", line)[1], [Parameter(*p) for p in zip(spaces, names, bases)], size or None


def find_sizes(text, kernels, base, options):
    """By-value parameters of types that only the text knows: words as many as they have."""
    unknown = sorted({p.name for _, ps, _ in kernels for p in ps if not p.width and not NO_VALUE.search(p.base)})
    if unknown:
        ll = compiled(text + "".join(f"\n__constant ulong gs_size_{i}[] = {{sizeof({t})}};" for i, t in enumerate(unknown)), base, options)
        sizes = {unknown[int(i)]: int(n) for i, n in re.findall(r"@gs_size_(\d+) = .*?i64 (\d+)\]", ll)}
        for _, parameters, _ in kernels:
            for p in parameters:
                if not p.pointer and not p.width and p.name in sizes:
                    p.width = 4 if sizes[p.name] % 4 == 0 else 1
                    p.count = sizes[p.name] // p.width


def can_run(parameters):
    return (len(parameters) <= 16 and sum(p.space in (1, 2) for p in parameters) <= 8 and
            all(p.pointer or (p.width and p.width * int(p.count) <= 64) for p in parameters))


def plan_of(number, name, parameters, required, r, launches):
    lines = [f"K {number} {name} {len(parameters)} 1"]
    for _ in range(launches):
        size = [1025]
        while size[0] * size[-1] > 1024 or len(size) == 3 and size[0] * size[1] * size[2] > 1024:
            dims = r.choice([1, 1, 1, 2, 2, 3])
            local = required or [r.choice({1: [1, 4, 8, 16, 32, 64], 2: [1, 2, 4, 8], 3: [1, 2, 4]}[dims]) if d < dims else 1 for d in range(3)]
            size = [local[d] * (r.choice([2, 3, 4, 5, 8] if dims == 1 else [1, 2, 3, 4]) if d < dims else 1) for d in range(3)]
        dims = max(d + 1 for d in range(3) if d < dims or size[d] > 1)
        offset = [r.choice([1, 3, 16]) if d < dims and r.random() < 0.07 else 0 for d in range(3)]
        lines.append("L " + " ".join(map(str, [dims, *offset, *size, *local, r.choice([0, 0, 4, 64, 1000]), r.randrange(1 << 31)])))
        count = size[0] * size[1] * size[2]
        of = [size[0], size[0], size[1], count, count, local[0], count - 1, count // 2, size[0] // 2, size[0] * 2, 0, 0, 1, 1, 2, 3, 4, 5, 8, 15,
              16, 17, 32, 64, 100, -1, r.randrange(count), r.randrange(20)]
        lines += [p.line(r, of) for p in parameters]
    return "\n".join(lines) + "\n"


def link(base, build):
    """The object with what neither the oracle nor its built-in functions have."""
    def names(path, *options):
        return {line.split()[-1] for line in call(["nm", *options, path]).stdout.splitlines() if line.strip()}
    missing = names(f"{base}.o", "-u") - names(f"{build}/tests/oracle_builtins_{STD}.so", "-D") - names(f"{build}/tests/oracle", "-D")
    with open(f"{base}.s", "w", encoding="ascii") as f:
        for name in sorted(missing):
            if not name.startswith(("__asan", "_GLOBAL_OFFSET")):
                f.write(f'.globl "{name}"\n"{name}": {"ud2" if re.search("P|image|event", name[2:]) else "ret"}\n')
    done = call(["clang-19", "-shared", "-nostdlib", "-Wl,-Bsymbolic-functions", f"{base}.o", f"{base}.s", "-o", f"{base}.so"])
    if done.returncode:
        raise Unfit("doesn't link: " + done.stderr[-120:])


def check(path, o, folder):
    """The counts, with all differences printed."""
    base = f"{folder}/kernels"
    options = o.options.split() + ["-I" + os.path.dirname(os.path.abspath(path))]
    with open(path, encoding="utf-8", errors="replace") as f:
        text = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" + f.read() + "\n"
    for i, name in enumerate(sorted(set(re.findall(r"\b\w{30,}\b", text)))):  # longer than the plan takes
        text = re.sub(rf"\b{name}\b", f"gs_{i}_{name[-15:]}", text)
    kernels = list(kernels_of(compiled(text, base, options)))
    find_sizes(text, kernels, base, options)
    kernels = [k for k in kernels if can_run(k[1])]
    if not kernels:
        raise Unfit("has no kernel that can be run")
    r = random.Random(f"{o.seed} {text}")
    with open(f"{base}.cl", "w", encoding="utf-8") as f:
        runs = (f"void run_{name}(ulong *a) {{ {name}({', '.join(p.word(i) for i, p in enumerate(ps))}); }}\n" for name, ps, _ in kernels)
        f.write(text + "#ifdef GS_HOST\n" + "".join(runs) + "#endif\n")
    with open(f"{base}.plan", "w", encoding="ascii") as f:
        f.write("".join(plan_of(i, *k, r, o.launches) for i, k in enumerate(kernels)))
    command = [c for c in clang_command(base, STD, PLAIN) if c != "-shared"]
    done = call([*command[:-1], f"{base}.o", "-c", *options])
    if done.returncode:
        raise Unfit("doesn't compile: " + done.stderr[-120:])
    link(base, o.build)
    command = oracle_command(o.build, base, STD, PLAIN)
    command[command.index("-o") + 1] += " " + " ".join(options)
    done = call(command)
    counts = re.search("^counts (.*)", done.stdout, re.M)
    if not counts:
        raise Unfit("ends the oracle: " + done.stderr[-120:])
    print("".join(f"{path}: {line}\n" for line in done.stdout.splitlines() if not line.startswith("counts")), end="")
    words = counts[1].split()
    return dict(zip(words[::2], map(int, words[1::2])))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+")
    p.add_argument("--launches", type=int, default=12, help="of each kernel")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--options", default="", help="build options, --options=-DN=4")
    p.add_argument("--build", default=os.environ.get("GS_BUILD", "build"), help="the build folder")
    o = p.parse_args()
    o.build = os.path.abspath(o.build)
    total = {}
    for path in o.files:
        with tempfile.TemporaryDirectory() as folder:
            try:
                counts = check(path, o, folder)
            except Unfit as e:
                print(f"{path}: {e}")
                continue
        total = {name: total.get(name, 0) + n for name, n in counts.items()}
    print(f"seed {o.seed}: " + ", ".join(f"{total.get(name, 0)} {what}" for name, what in (
        ("kernels", "kernels"), ("refused", "never split"), ("checked", "checked"), ("sure", "surely overwrite"), ("launches", "launches"),
        ("out_of_bounds", "out of bounds"), ("parts", "parts"), ("different", "kernels differ"))))
    return 1 if total.get("different") else 0 if total.get("parts") else 77


if __name__ == "__main__":
    sys.exit(main())
