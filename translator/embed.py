#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py FILE NAME OUTPUT: a C file that defines `const char NAME[]` with the text of FILE, a 0 behind it."""
import sys

data = open(sys.argv[1], "rb").read() + b"\0"
with open(sys.argv[3], "w") as out:
    out.write("/* Made by embed.py. */\n#include \"translator/parsing/clang_header.h\"\n\n")
    out.write(f"const char {sys.argv[2]}[] = {{\n")
    for i in range(0, len(data), 24):
        out.write("    " + ", ".join(str(b) for b in data[i:i + 24]) + ",\n")
    out.write("};\n")
