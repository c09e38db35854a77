"""The page of `precis ui`: static files, and the terms on which a browser runs them.

Nothing is loaded from elsewhere, and no markup that got into the page could run. Only names of this machine are
answered, for a web site may point a name of its own to it and would then read the answers.
"""

from functools import cache
from importlib.resources import files

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PAGE_PATH = "/ui"
_OWN, _REPORT = "server.http", "server.cli.page"
_FILES = {
    PAGE_PATH: (_OWN, "page/index.html", "text/html"),
    f"{PAGE_PATH}/page.js": (_OWN, "page/page.js", "text/javascript"),
    f"{PAGE_PATH}/page.css": (_OWN, "page/page.css", "text/css"),
    f"{PAGE_PATH}/style.css": (_REPORT, "style.css", "text/css"),  # the same as that of the reports
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}


def page_routes() -> list[Route]:
    """Returns the paths of the page; they need no key, and say nothing of the server."""
    return [Route(path, _send, methods=["GET"]) for path in _FILES]


def page_guards(host: str) -> list[Middleware]:
    """Returns what refuses requests for other names than those of this machine and `host`."""
    return [Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost", host], www_redirect=False)]


async def _send(request: Request) -> Response:
    """Sends one file."""
    content, media_type = _read(request.url.path)
    return Response(content, headers=_HEADERS, media_type=media_type)


@cache
def _read(path: str) -> tuple[bytes, str]:
    package, name, media_type = _FILES[path]
    return files(package).joinpath(name).read_bytes(), media_type
