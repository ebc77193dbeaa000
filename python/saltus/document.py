# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Scenes as data: mappings, lists and texts, read from and written to YAML. Every value is a text, like formulas; the
library parses it."""
from __future__ import annotations

import re
from typing import Any, Mapping, Optional, Union

from .arguments import as_formula

Node = Union[str, list[Any], dict[str, Any]]

_PLAIN = re.compile(r"[A-Za-z0-9_./+(\-][A-Za-z0-9_./+*^()<>=' \-]*\Z")
_WIDTH = 96


def read(text: str) -> dict[str, Any]:
    """Reads a scene as a document; needs PyYAML."""
    try:
        import yaml
    except ImportError as error:
        raise ImportError("changing a scene that was read needs PyYAML (Debian: python3-yaml)") from error
    try:
        document = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise ValueError(f"the scene is no YAML: {error}") from error
    if not isinstance(document, dict):
        raise ValueError("the scene is no mapping")
    return document


def node(value: Any, name: str) -> Node:
    """Converts numbers, formulas, sequences and mappings to a node."""
    if isinstance(value, Mapping):
        return {str(key): node(entry, f"{name}.{key}") for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [node(entry, f"{name}[{i}]") for i, entry in enumerate(value)]
    if hasattr(value, "tolist") and getattr(value, "ndim", 0) > 0:
        return node(value.tolist(), name)
    return as_formula(value, name)


def scalar(text: str) -> str:
    """A text as YAML scalar, quoted if necessary."""
    if _PLAIN.match(text) and text == text.strip() and not text.startswith("- ") and " #" not in text and text != "-":
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def flow(value: Node) -> str:
    """Flow style, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {flow(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(entry) for entry in value) + "]"
    return scalar(value)


def _lines(key: str, value: Node, indent: str) -> list[str]:
    line = f"{indent}{key}{flow(value)}"
    if len(line) <= _WIDTH or isinstance(value, str) or not value:
        return [line]
    inside = indent + "  "
    out = [(indent + key).rstrip()]
    if isinstance(value, dict):
        for name, entry in value.items():
            out += _lines(f"{scalar(name)}: ", entry, inside)
    else:
        for entry in value:
            out += [f"{inside}- {flow(entry)}"]
    return out


def write(document: Mapping[str, Any]) -> str:
    """Text of a scene file from a document."""
    lines: list[str] = []
    for key, value in document.items():
        lines += _lines(f"{scalar(key)}: ", value, "")
    return "\n".join(lines) + "\n"


def observers(entries: Optional[Mapping[str, Any]], name: str) -> dict[str, Any]:
    """Outputs or events as a node."""
    if entries is None:
        return {}
    if not isinstance(entries, Mapping):
        raise TypeError(f"{name} is a mapping of formulas, not {type(entries).__name__}")
    made = node(entries, name)
    assert isinstance(made, dict)
    return made


def with_entries(text: str, more: Mapping[str, dict[str, Any]]) -> str:
    """Adds entries to mappings of a scene; the remaining text is unchanged where possible."""
    if not more:
        return text
    block = not text.lstrip().startswith("{")
    if block and not any(re.search(rf"^{key}\s*:", text, re.M) for key in more):
        return text.rstrip("\n") + "\n" + write(more)
    document = read(text)
    for key, entries in more.items():
        there = document.setdefault(key, {})
        if not isinstance(there, dict):
            raise ValueError(f"{key} of the scene is no mapping")
        there.update(entries)
    return write(document)
