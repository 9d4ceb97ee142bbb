#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a text file as a C string. usage: embed.py INPUT NAME OUTPUT"""
import sys

text, name = open(sys.argv[1]).read(), sys.argv[2]
lines = "".join('    "' + l.replace("\\", "\\\\").replace('"', '\\"') + '\\n"\n' for l in text.splitlines())
with open(sys.argv[3], "w") as out:
    out.write(f"extern const char {name}[];\nconst char {name}[] =\n{lines};\n")
