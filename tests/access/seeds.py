#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""seeds.py FOLDER FILE…: the access programs in cached translations, one per file, as fuzz_access takes them."""
import pathlib
import re
import sys

folder, n = pathlib.Path(sys.argv[1]), 0
for name in sys.argv[2:]:
    text = pathlib.Path(name).read_text(errors="replace")
    for program in re.findall(r"^access 1 ?\n?(.*?)(?=^kernel |^end)", text, re.S | re.M):
        args = int(program.split()[0])
        if 1 <= args <= 4:
            (folder / f"seed{n}").write_bytes(bytes([(args - 1) << 4 | n & 15]) + program.encode())
            n += 1
