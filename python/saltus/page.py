# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Animations as pages for browsers and notebooks."""
from __future__ import annotations

import html
import os
import pathlib
import tempfile
import webbrowser
from typing import Union

from .arguments import as_path


class Page:
    """Self-contained page with animation, curves and events of a motion.

    A notebook displays it as the value of a cell; `save` writes it, `show` opens a browser.

    >>> import saltus
    >>> page = saltus.solve("scenes/woodpecker.yaml", 0.1).animate()
    >>> page.html.startswith(b"<!doctype html>")
    True
    """

    __slots__ = ("html", "height")

    def __init__(self, page: bytes, height: int) -> None:
        self.html = page
        self.height = height

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the page to a file.

        >>> import saltus, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "ball.html")
        >>> saltus.solve("scenes/ball.yaml", 1.0).animate().save(path)
        >>> os.path.getsize(path) > 1000
        True
        """
        pathlib.Path(as_path(path)).write_bytes(self.html)

    def show(self) -> str:
        """Opens the page in a browser, from a temporary file; returns its path.

        >>> import saltus
        >>> callable(saltus.solve("scenes/ball.yaml", 1.0).animate().show)
        True
        """
        handle, path = tempfile.mkstemp(prefix="saltus-", suffix=".html")
        with os.fdopen(handle, "wb") as file:
            file.write(self.html)
        webbrowser.open(pathlib.Path(path).as_uri())
        return path

    def _repr_html_(self) -> str:
        """HTML of a separate frame that isolates page and notebook."""
        return (f'<iframe sandbox="allow-scripts allow-downloads" style="width:100%;height:{self.height}px;border:0" '
                f'srcdoc="{html.escape(self.html.decode("utf-8"))}"></iframe>')

    def __repr__(self) -> str:
        return f"<saltus.Page of {len(self.html) / 1e6:.2f} MB>"
