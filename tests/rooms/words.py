#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at the words of the shim's public names: words.py SOURCE

A function that a header declares is named by words of OpenCL's (as its own functions have them), of docs/glossary.md, or of words.txt,
which lists words of Linux's: each of them is in Linux's own headers, not in the glossary, and in some name. Prints each
other word with a function that has it, and each that is listed in vain, and exits with 1 then.
"""
import glob
import os
import re
import sys


IRREGULAR = {'are': 'is', 'kept': 'keep', 'known': 'know', 'made': 'make', 'taken': 'take', 'wrote': 'write'}


def stem(word):
    """So that hold, holds, holding and holders are one word, and new and newest."""
    word = IRREGULAR.get(word, word)
    for ends in r'(ies|es|s)$', r'(ied|ed|ing|er|est|e|y)$':
        word = re.sub(ends, '', word) if len(word) > 3 else word
    return word


def opencl_words():
    """-> words of clEnqueueNDRangeKernel, CL_MEM_READ_ONLY and the like."""
    words = set()
    for path in glob.glob(os.path.join(os.environ.get('GS_CL_INCLUDE') or '/usr/include', 'CL', '*.h')):
        with open(path, encoding='utf-8') as text:
            for name in set(re.findall(r'\b(?:cl[A-Z]\w*|cl_\w+|CL_\w+)\b', text.read())):
                words |= {part.lower() for part in re.findall(r'[A-Z]?[a-z]+|[A-Z]+(?![a-z])', name[2:])}
    return words


def linux_words():
    """-> words of names in what Linux's headers give to programs."""
    words = set()
    for path in glob.glob('/usr/include/linux/**/*.h', recursive=True) + glob.glob('/usr/include/asm-generic/*.h'):
        with open(path, encoding='utf-8', errors='replace') as text:
            plain = re.sub(r'/\*.*?\*/', ' ', text.read(), flags=re.S)
        words |= {word.lower() for word in re.findall(r'[A-Za-z]+', plain)}
    return words


def glossary_words(source):
    with open(os.path.join(source, 'docs', 'glossary.md'), encoding='utf-8') as text:
        entries = [line.split('|')[1] for line in text if line.startswith('| ')]
    return set(re.findall(r'[a-z]+', ' '.join(entries).lower()))


def listed_words(source):
    with open(os.path.join(source, 'tests', 'rooms', 'words.txt'), encoding='utf-8') as text:
        return set(re.findall(r'[a-z]+', re.sub(r'#.*', '', text.read())))


def public_names(source):
    """-> {function: header}"""
    names = {}
    for path in sorted(glob.glob(os.path.join(source, 'shim', '*', '*.h'))):
        with open(path, encoding='utf-8') as text:
            plain = re.sub(r'/\*.*?\*/', ' ', text.read(), flags=re.S)
        for name in re.findall(r'\bgs_(\w+)\(', plain):
            names.setdefault(name, os.path.relpath(path, source))
    return names


def unknown(names, known):
    """-> {word: function}"""
    stems = {stem(word) for word in known}
    return {word: f'gs_{name} ({header})' for name, header in names.items() for word in name.split('_')
            if stem(word) not in stems and not word.isdigit()}


def in_vain(listed, names, linux, explained):
    """-> {word: why it must not be listed}"""
    used, stems, linux = ({stem(word) for word in words} for words in ('_'.join(names).split('_'), explained, linux))
    wrong = {word: 'no name has it' for word in listed if stem(word) not in used}
    wrong |= {word: 'is a word of the glossary' for word in listed if stem(word) in stems}
    return wrong | {word: 'is no word of Linux\'s' for word in listed if stem(word) not in linux}


def main():
    source = os.path.realpath(sys.argv[1])
    names, listed = public_names(source), listed_words(source)
    opencl, linux, explained = opencl_words(), linux_words(), glossary_words(source)
    if len(opencl) < 100:
        sys.exit("OpenCL's headers weren't found: where are they? GS_CL_INCLUDE says so")
    if len(linux) < 1000:
        sys.exit("Linux's headers weren't found in /usr/include/linux")
    found = unknown(names, opencl | explained | listed)
    for word, function in sorted(found.items()):
        print(f'{function}: "{word}" is neither a word of OpenCL\'s, nor in docs/glossary.md, nor one of Linux\'s in words.txt')
    vain = in_vain(listed, names, linux, explained)  # OpenCL's headers have more words from version to version
    for word, why in sorted(vain.items()):
        print(f'words.txt: {word}: {why}')
    print(f'{len(names)} public names of the shim: {len(found)} unknown words; {len(listed)} of Linux\'s, {len(vain)} in vain')
    sys.exit(1 if found or vain else 0)


if __name__ == '__main__':
    main()
