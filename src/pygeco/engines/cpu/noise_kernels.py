"""Normal numbers by their place: the number at place t of a key is the same on every engine.

The words are those of Threefry-2x32 in 20 rounds (Salmon and others 2011), with the key and the
place of a pair of numbers as its input. The lowest bit of a word is the sign, the others are how
far out the number is, which Giles's polynomials (2010) for the inverse error function find in
single precision, to about 1e-6. All parts of an array can be made at once, in any order.
"""

from __future__ import annotations

import numpy as np
from numba import int32, uint32

from pygeco.engines.cpu.keeping import njit
from pygeco.engines.cpu.memory import give_back, take_memory
from pygeco.engines.cpu.parallel import spread

PARITY = uint32(0x1BD11BDA)
F = np.float32
HALF, TWO = F(0.5), F(2.0)
STEP, ROOT = F(2.0**-31), F(2.0**0.5)
NEAR, MIDDLE, FAR = F(5.0), F(2.5), F(3.0)
CENTER = tuple(map(F, (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
)))  # fmt: skip
TAIL = tuple(map(F, (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
    -0.0076224613, 0.00943887047, 1.00167406, 2.83297682,
)))  # fmt: skip


@spread("parts")
def fill(b, out, low, high, part, parts):
    """The first numbers of a key of two words, `part` of them a part: an even number of them."""
    begin = b * part
    count = min(part, len(out) - begin)
    words = take_memory(part, np.uint32)
    for t in range((count + 1) // 2):
        at = begin // 2 + t
        x, y = make_words(low, high, uint32(at), uint32(at >> 32))
        words[2 * t] = x
        words[2 * t + 1] = y
    for t in range(count):
        out[begin + t] = make_normal(words[t])
    give_back(words)


@njit(inline="always")
def rotate(x, by):
    return uint32((x << uint32(by)) | (x >> uint32(32 - by)))


@njit(inline="always")
def mix(x, y, a, b, c, d):
    """Four rounds."""
    x = uint32(x + y)
    y = rotate(y, a) ^ x
    x = uint32(x + y)
    y = rotate(y, b) ^ x
    x = uint32(x + y)
    y = rotate(y, c) ^ x
    x = uint32(x + y)
    y = rotate(y, d) ^ x
    return x, y


@njit
def make_words(low, high, x, y):
    """Two words for the place of a pair, x its lower half."""
    third = uint32(low ^ high ^ PARITY)
    x, y = mix(uint32(x + low), uint32(y + high), 13, 15, 26, 6)
    x, y = mix(uint32(x + high), uint32(y + third + uint32(1)), 17, 29, 16, 24)
    x, y = mix(uint32(x + third), uint32(y + low + uint32(2)), 13, 15, 26, 6)
    x, y = mix(uint32(x + low), uint32(y + high + uint32(3)), 17, 29, 16, 24)
    x, y = mix(uint32(x + high), uint32(y + third + uint32(4)), 13, 15, 26, 6)
    return uint32(x + third), uint32(y + low + uint32(5))


@njit
def make_normal(word):
    """√2 erf⁻¹(1 − t) with a sign; t in (0, 1) is twice the share of numbers farther out."""
    t = (F(int32(word >> uint32(1))) + HALF) * STEP
    w = -np.log(t * (TWO - t))
    near, far = w - MIDDLE, np.sqrt(w) - FAR
    p, q = CENTER[0], TAIL[0]
    for k in range(1, 9):
        p = CENTER[k] + p * near
        q = TAIL[k] + q * far
    size = (p if w < NEAR else q) * ((F(1.0) - t) * ROOT)
    return size if word & uint32(1) else -size
