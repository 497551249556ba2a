"""XML is read without what it should not do."""

from __future__ import annotations

import pathlib

import pytest
from lxml import etree

from mbfmu.markup import xml_root


def test_elements_are_the_only_children() -> None:
    """Comments and processing instructions are dropped, before the root, too; text around them stays."""
    root = xml_root(b"<?xml version='1.0'?><?a?><!-- b --><r>one<!-- c -->two<?d e?><f/><!-- g --></r>")
    assert [child.tag for child in root] == ["f"]
    assert root.text == "onetwo"


def test_entities_are_not_read(tmp_path: pathlib.Path) -> None:
    """Neither a file's content nor a word: it would be a way to read what is on the machine."""
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    head = f'<!DOCTYPE r [<!ENTITY file SYSTEM "{secret.as_uri()}"><!ENTITY word "said">]>'
    root = xml_root(f"{head}<r>&file;&word;</r>".encode())
    assert "secret" not in "".join(root.itertext())
    assert root.text is None


def test_what_is_no_xml_is_an_error() -> None:
    with pytest.raises(etree.XMLSyntaxError, match="line 2"):
        xml_root(b"<r>\n</s>")
