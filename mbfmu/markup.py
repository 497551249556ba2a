"""XML from anywhere: files of other formats, FMUs, packages."""

from __future__ import annotations

from lxml import etree


def xml_root(text: bytes) -> etree._Element:
    """Read XML: without entities, the network, and what would stand among children, comments and instructions.

    Raises:
        etree.XMLSyntaxError: It is not XML.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    return etree.fromstring(text, parser)
