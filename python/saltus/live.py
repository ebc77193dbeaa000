# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Live view of a simulation: a page served on the loopback interface alone, under a random token, that follows the
states by server-sent events."""
from __future__ import annotations

import base64
import secrets
import threading
import time
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    from .simulation import Simulation

_INTERVAL = 1 / 60  # s between two states that are sent
_ALIVE = 5.0  # s after which a comment is sent to a page without news, so that a closed page is noticed


class LiveView:
    """Live view of a simulation, made by `sim.view()`.

    Only programs of this machine that know the token of `url` are answered. At most 60 states per second are sent; the
    last state of an `advance` that was skipped follows with the next call of `update`.

    >>> import saltus
    >>> sim = saltus.Model("scenes/ball.yaml").simulate(step=1e-3, record=1)
    >>> view = sim.view(show=False)
    >>> sim.advance(0.1)
    >>> view.close()
    """

    def __init__(self, simulation: Simulation, port: int, show: bool) -> None:
        self._simulation = simulation
        self._token = secrets.token_urlsafe(24)
        self._news = threading.Condition()
        self._count = 0
        self._sent = -1.0
        self._state = b""
        self._closed = False
        self._page = self._render(False).replace(b"connect-src 'none'", b"connect-src 'self'", 1)
        self._page = self._page.replace(b'<main id="saltus"', b'<main id="saltus" data-live="state"', 1)
        view = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                view._answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                """No lines on the standard error."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        if show:
            webbrowser.open(self.url)

    @property
    def url(self) -> str:
        """Address of the page, with the token.

        >>> import saltus
        >>> with saltus.Model("scenes/ball.yaml").simulate(step=1e-3, record=1).view(show=False) as view:
        ...     view.url.endswith("/")
        True
        """
        return f"http://127.0.0.1:{self._port}/{self._token}/"

    def _render(self, document: bool) -> bytes:
        simulation = self._simulation
        return _core.page(simulation._sim.data(True), simulation.model._scene, document)

    def update(self, always: bool = False) -> None:
        """Sends the present state; `always` also less than 1/60 s after the last one.

        >>> import saltus
        >>> sim = saltus.Model("scenes/ball.yaml").simulate(step=1e-3, record=1)
        >>> with sim.view(show=False) as view:
        ...     view.update(always=True)
        """
        now = time.monotonic()
        if self._closed or (now - self._sent < _INTERVAL and not always):
            return
        state = base64.b64encode(self._render(True))
        with self._news:
            self._state, self._sent, self._count = state, now, self._count + 1
            self._news.notify_all()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        hosts = (f"127.0.0.1:{self._port}", f"localhost:{self._port}")
        part = request.path.lstrip("/").partition("/")
        try:
            known = secrets.compare_digest(part[0].encode(), self._token.encode())
            if request.headers.get("Host") not in hosts or not known:
                request.send_error(403, "unknown token or host")
            elif part[2] == "":
                self._send_head(request, "text/html; charset=utf-8", len(self._page))
                request.wfile.write(self._page)
            elif part[2] == "state":
                self._send_head(request, "text/event-stream", None)
                self._follow(request)
            else:
                request.send_error(404, "there is the page and its state alone")
        except (BrokenPipeError, ConnectionResetError):
            pass  # the page was closed

    @staticmethod
    def _send_head(request: BaseHTTPRequestHandler, kind: str, length: Any) -> None:
        request.send_response(200)
        request.send_header("Content-Type", kind)
        request.send_header("Cache-Control", "no-store")
        request.send_header("X-Content-Type-Options", "nosniff")
        if length is not None:
            request.send_header("Content-Length", str(length))
        request.end_headers()

    def _follow(self, request: BaseHTTPRequestHandler) -> None:
        seen = 0
        while not self._closed:
            with self._news:
                self._news.wait_for(lambda: self._closed or self._count > seen, timeout=_ALIVE)
                state, count = self._state, self._count
            request.wfile.write(b"data: " + state + b"\n\n" if count > seen else b":\n\n")
            request.wfile.flush()
            seen = count

    def close(self) -> None:
        """Ends the server; the page keeps its last state.

        >>> import saltus
        >>> saltus.Model("scenes/ball.yaml").simulate(step=1e-3, record=1).view(show=False).close()
        """
        if not self._closed:
            with self._news:
                self._closed = True
                self._news.notify_all()
            self._server.shutdown()
            self._server.server_close()
            self._simulation._view = None

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()


__all__ = ["LiveView"]
