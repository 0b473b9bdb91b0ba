"""Who may speak to the studio: whoever has the printed address, from this machine, from its own pages. Nobody else.

Every request passes here before anything else is done, for files of the pages as well. A request is refused (403)
unless it names this very host and port, does not come from another site, and carries the cookie that the printed
address is traded for. Answers carry the rules of the page and are kept by no cache.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

__all__ = ["ENTRANCE", "HEADERS", "Guard", "Keys"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

ENTRANCE = "/enter"
_SAFE = ("GET", "HEAD")
_OWN_SITES = (b"same-origin", b"none")

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    # "no-referrer" would make browsers send "Origin: null" with forms.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_REFUSED = b"Not allowed. Open the address that microagg printed when it started, on this machine.\n"


class Keys:
    """The secrets of a running studio.

    Attributes
    ----------
    token : str
        256 bits, in the printed address.
    once : str
        256 bits, in the address that a browser is started with: other users see it in the list of processes, so it
        opens once. Empty when it has.
    session : str
        256 bits, in the cookie.
    """

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)
        self.once = secrets.token_urlsafe(32)
        self.session = secrets.token_urlsafe(32)

    def opens(self, token: str) -> bool:
        given = token.encode("utf-8", "replace")
        if self.once and secrets.compare_digest(given, self.once.encode()):
            self.once = ""
            return True
        return secrets.compare_digest(given, self.token.encode())

    def knows(self, session: str) -> bool:
        return secrets.compare_digest(session.encode("utf-8", "replace"), self.session.encode())


class Guard:
    """Lets requests through to `app` that may come through, and gives every answer its headers.

    Parameters
    ----------
    app : ASGI application
    keys : Keys
    port : int
        That the studio listens on.
    """

    def __init__(self, app: App, keys: Keys, port: int) -> None:
        self._app, self._keys = app, keys
        ends = (f":{port}", "") if port == 80 else (f":{port}",)  # browsers leave out the port of http
        self._hosts = frozenset(f"{name}{end}".encode() for name in ("127.0.0.1", "localhost") for end in ends)
        self._cookie = f"microagg_studio_{port}"  # cookies do not know ports: two studios have two

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no WebSocket is spoken here
            await send({"type": "websocket.close", "code": 1008})
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = {name.encode(): value.encode() for name, value in HEADERS.items()}
                headers = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in own]
                message = {**message, "headers": [*headers, *own.items()]}
            await send(message)

        if not self._is_ours(scope):
            await _answer(with_headers, 403, _REFUSED)
        elif scope["path"] == ENTRANCE:
            await self._enter(scope, with_headers)
        elif any(self._keys.knows(one) for one in self._sessions_in(scope)):
            await self._app(scope, receive, with_headers)
        else:
            await _answer(with_headers, 403, _REFUSED)

    def _is_ours(self, scope: Scope) -> bool:
        """Whether a request names this host and comes from its own pages, or from nowhere, as a typed address does."""
        hosts, origins, sites = (_headers(scope, name) for name in (b"host", b"origin", b"sec-fetch-site"))
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return False
        own_origin = b"http://" + hosts[0]
        if any(origin != own_origin for origin in origins) or any(site not in _OWN_SITES for site in sites):
            return False
        return scope["method"] in _SAFE or bool(origins)

    async def _enter(self, scope: Scope, send: Send) -> None:
        """Trade the token for the cookie, and lead to a page whose address holds no secret."""
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])
        if scope["method"] != "GET" or len(given) != 1 or not self._keys.opens(given[0]):
            await _answer(send, 403, _REFUSED)
            return
        cookie = f"{self._cookie}={self._keys.session}; HttpOnly; SameSite=Strict; Path=/"
        await _answer(send, 303, b"", [(b"location", b"/"), (b"set-cookie", cookie.encode())])

    def _sessions_in(self, scope: Scope) -> list[str]:
        """Values of our cookie; those of other servers of this machine come along, and may be written in any way."""
        found = []
        for line in _headers(scope, b"cookie"):
            for one in line.decode("latin-1").split(";"):
                name, _, value = one.strip().partition("=")
                found += [value] if name == self._cookie else []
        return found


def _headers(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key.lower() == name]


async def _answer(send: Send, status: int, body: bytes, more: list[tuple[bytes, bytes]] | None = None) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *(more or [])]})
    await send({"type": "http.response.body", "body": body})
