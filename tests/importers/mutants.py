"""Files with one thing wrong: what a slip of the pen, a bad tool or a broken copy would make of them."""

from __future__ import annotations

import pathlib
import random
import re
import warnings
from collections.abc import Iterator

from mbfmu import importers
from mbfmu.dynamics.system import System
from mbfmu.errors import MbfmuError

#: What numbers and names turn into.
VALUES = (
    "nan",
    "inf",
    "-1",
    "0",
    "1e999",
    "1e-320",
    "abc",
    "",
    "1 2",
    "0 0 0",
    "-5e-20",
    "1,5",
    "0x10",
    "1e300",
    "é\x7f",
)


def mutants(text: str, count: int, seed: int) -> Iterator[str]:
    """`count` mutants of a text, always the same for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        mutant = text
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            mutant = _mutated(mutant, chance)
        yield mutant


def _mutated(text: str, chance: random.Random) -> str:
    kind = chance.randrange(10)
    lines = text.split("\n")
    line = chance.randrange(len(lines))
    attributes = list(re.finditer(r'\s([\w:]+)="([^"]*)"', text))
    if kind == 0:
        return "\n".join(lines[:line] + lines[line + 1 :])
    if kind == 1:
        return "\n".join([*lines[: line + 1], lines[line], *lines[line + 1 :]])
    if kind == 2:
        return text[: chance.randrange(len(text) + 1)]
    if kind == 3:
        position = chance.randrange(len(text) + 1)
        return text[:position] + chance.choice("<>\"'&/ =\0%éx0") + text[position + 1 :]
    if not attributes:
        return text
    one, other = chance.choice(attributes), chance.choice(attributes)
    if kind == 4:
        return text[: one.start()] + text[one.end() :]
    if kind == 5:
        return text[: one.start(2)] + other[2] + text[one.end(2) :]
    if kind == 6:
        return text[: one.start(1)] + chance.choice((other[1], one[1] + "x")) + text[one.end(1) :]
    tags = list(re.finditer(r"</?(\w+)", text))
    if kind == 7 and tags:
        tag, another = chance.choice(tags), chance.choice(tags)
        return text[: tag.start(1)] + another[1] + text[tag.end(1) :]
    words = list(re.finditer(r"\S+", one[2]))
    if kind == 8 and words:
        word = chance.choice(words)
        at = one.start(2)
        return text[: at + word.start()] + chance.choice(VALUES) + text[at + word.end() :]
    return text[: one.start(2)] + chance.choice(VALUES) + text[one.end(2) :]


def verdict(path: pathlib.Path, derive: bool) -> str:
    """`model`, or the message of an error; any other exception passes through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assembly = importers.load(path)
            if derive:
                System.of(assembly)
        except MbfmuError as error:
            return str(error)
    return "model"
