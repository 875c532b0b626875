"""The registries of packages: PyPI (https://docs.pypi.org/api/json/) and npm
(https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md), with the packages of Heron, whose documentation is in
the sandbox.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from websearch_gateway.sandbox.vendor import Vendor, VendorRefusal, origin

_PYPI: dict[str, dict[str, Any]] = {
    "heron": {"newest": "2.0", "versions": ("1.0", "2.0", "3.0b1"), "links": {"Documentation": "/docs/"}},
    "heron-tools": {"newest": "0.4", "versions": ("0.4",), "links": {"Homepage": "/pages/", "Docs": "/docs/2.0/"}},
    "gull": {"newest": "1.1", "versions": ("1.1",), "links": {"Docs": "/docs/2.0/"}, "yanked": "breaks all harbours"},
    "tern": {"newest": "0.1", "versions": ("0.1",), "links": {}},
}
_NPM: dict[str, dict[str, Any]] = {
    "heron": {"newest": "3.0.0-beta.1", "versions": ("2.0.0", "3.0.0-beta.1"), "homepage": "/docs/{short}/"},
    "@harbour/tides": {"newest": "1.2.0", "versions": ("1.2.0",), "homepage": "/harbour/tides#readme"},
    "tern": {"newest": "0.1.0", "versions": ("0.1.0",)},
}


def refusal(status: int, reason: str | None = None) -> VendorRefusal:
    """PyPI's error body; npm's has another name for the message."""
    return VendorRefusal(status, {"message": reason or "Not Found"})


async def _pypi(request: Request) -> Response:
    asked, version = request.path_params["name"], request.path_params.get("version")
    name = asked.lower().replace("_", "-").replace(".", "-")
    package = _PYPI.get(name)
    if package is None or (version and version not in package["versions"]):
        raise refusal(404)
    if name != asked:
        return RedirectResponse(f"/pypi/pypi/{name}{f'/{version}' if version else ''}/json", 301)
    reason = package.get("yanked")
    info = {
        "name": name,
        "version": version or package["newest"],
        "docs_url": None,
        "home_page": None,
        "project_urls": {label: origin(request) + path for label, path in package["links"].items()} or None,
        "yanked": reason is not None,
        "yanked_reason": reason,
    }
    return JSONResponse({"info": info, "last_serial": 1, "urls": [], "vulnerabilities": []})


async def _npm(request: Request) -> Response:
    name, _, version = request.path_params["place"].rpartition("/")
    package = _NPM.get(name, {"versions": ()})
    version = package["newest"] if version == "latest" and name in _NPM else version
    if version not in package["versions"]:
        return JSONResponse({"error": "Not found"}, 404)
    manifest = {"name": name, "version": version, "description": "Reads tide tables."}
    if home := package.get("homepage"):
        code = {"type": "git", "url": f"git+{origin(request)}/{name.removeprefix('@')}.git"}
        short = "3.0b1" if "beta" in version else "2.0"
        manifest |= {"homepage": origin(request) + home.format(short=short), "repository": code}
    return JSONResponse(manifest)


PYPI = Vendor("pypi", [Route("/pypi/{name}/json", _pypi), Route("/pypi/{name}/{version}/json", _pypi)], refusal)
NPM = Vendor("npm", [Route("/{place:path}", _npm)], refusal)
