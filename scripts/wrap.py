#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wraps the paragraphs of Markdown files that have a line above 120 characters; tables and code stay as they are.
usage: wrap.py FILE..."""
import re
import sys
import textwrap

ITEM = re.compile(r"^(\s*)([-*]|\d+\.) ")


def wrap(lines):
    """The lines of a paragraph or of one item of a list."""
    if all(len(line) <= 120 for line in lines):
        return lines
    item = ITEM.match(lines[0])
    first = item.group(0) if item else re.match(r"\s*", lines[0]).group(0)
    text = " ".join([lines[0][len(first):]] + [line.strip() for line in lines[1:]])
    # Code isn't broken at its blanks.
    text = re.sub(r"`[^`]{,90}`", lambda code: code.group(0).replace(" ", "\0"), re.sub(r"\s+", " ", text))
    return [line.replace("\0", " ") for line in textwrap.wrap(text, 118, initial_indent=first,
            subsequent_indent=" " * len(first), break_long_words=False, break_on_hyphens=False)]


def wrap_block(block):
    """The lines between two empty ones: a paragraph, or a list."""
    items = []
    for line in block:
        if not items or ITEM.match(line):
            items.append([])
        items[-1].append(line)
    return [line for item in items for line in wrap(item)]


def wrap_page(text):
    out, block, fenced, listed = [], [], False, False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        code = line.startswith("    ") and not block and not listed
        if fence or fenced or code or not line.strip() or line[0] in "|#":
            out += wrap_block(block) + [line]
            block = []
            fenced ^= fence
        else:
            listed = bool(ITEM.match(line)) or (listed and line.startswith(" "))
            block.append(line)
    return "\n".join(out + wrap_block(block))


for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    open(path, "w", encoding="utf-8").write(wrap_page(text))
