#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Finds the twists of mersennetwister.cl: one for each small identifier, which stands in its low 16 bits.

A generator of 19 words of 32 bits, less one bit, has 607 bits of state. Its period is 2**607 - 1 exactly if the
characteristic polynomial is irreducible, as 2**607 - 1 is prime. Berlekamp and Massey's algorithm gives the
polynomial from the low bits that a twist makes. Usage: find_twists.py FIRST END
"""
import random
import sys

WORDS, MIDDLE, DEGREE = 19, 9, 607
SPREAD = [int("".join("0" + c for c in bin(i)[2:]), 2) for i in range(1 << 16)]


def low_bits(twist, count):
    state = [random.Random(word).getrandbits(32) for word in range(WORDS)]
    bits = []
    for k in range(count):
        i = k % WORDS
        x = (state[i] & 0xFFFFFFFE) | (state[(i + 1) % WORDS] & 1)
        state[i] = state[(i + MIDDLE) % WORDS] ^ (x >> 1) ^ (twist if x & 1 else 0)
        bits.append(state[i] & 1)
    return bits


def shortest_recurrence(bits):
    poly, last, length, since, past = 1, 1, 0, 1, 0
    for n, bit in enumerate(bits):
        past = (past << 1) | bit
        if bin(poly & past).count("1") % 2 == 0:
            since += 1
        elif 2 * length <= n:
            poly, last, length, since = poly ^ (last << since), poly, n + 1 - length, 1
        else:
            poly ^= last << since
            since += 1
    return length, poly


def square(x):
    result, shift = 0, 0
    while x:
        result |= SPREAD[x & 0xFFFF] << shift
        x >>= 16
        shift += 32
    return result


def remainder(x, poly):
    degree = poly.bit_length()
    while x.bit_length() >= degree:
        x ^= poly << (x.bit_length() - degree)
    return x


def common_divisor(a, b):
    while b:
        a, b = b, remainder(a, b)
    return a


def irreducible(poly):
    power = 2
    for k in range(1, DEGREE + 1):
        power = remainder(square(power), poly)
        if k <= 12 and common_divisor(poly, power ^ 2) != 1:
            return False
    return power == 2


def find(identifier):
    choose = random.Random(identifier * 7919 + 1)
    while True:
        twist = 0x80000000 | (choose.getrandbits(15) << 16) | identifier
        length, poly = shortest_recurrence(low_bits(twist, 2 * DEGREE + 10))
        if length == DEGREE and poly.bit_length() == DEGREE + 1 and irreducible(poly):
            return twist


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        print("0x%08x," % find(number), flush=True)
