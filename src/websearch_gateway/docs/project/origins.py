"""Where the packages of an ecosystem come from."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

PUBLIC: Mapping[str, tuple[str, ...]] = {
    "pypi": ("pypi.org", "pypi.python.org", "files.pythonhosted.org"),
    "npm": ("registry.npmjs.org", "registry.yarnpkg.com"),
}
"""The hosts of the public registries."""

_HOST = re.compile(r"[\w.:-]{1,253}", re.ASCII)
_USUAL_PORT = re.compile(r":(?:80|443)$")
_NAMED = re.compile(r"[\w-]+=")
"""How uv writes an index: `name=url`."""


class Origins:
    """Where the packages of an ecosystem come from.

    `private` is an index that is not public and that any package may come from, with the file that names it. `public`
    and `elsewhere` hold the packages, and with a slash at their end the scopes, that come from a public and another.
    """

    def __init__(
        self,
        known: Collection[str] = (),
        private: str = "",
        public: Iterable[str] = (),
        elsewhere: Any = (),
    ) -> None:
        self._known = known
        self.private = private
        self.public = set(public)
        self.elsewhere: dict[str, str] = dict(elsewhere)

    def withheld(self, name: str) -> str:
        """Why a public registry is not asked for a package; "" if it may be."""
        scope = f"{name.partition('/')[0]}/"
        if origin := self.elsewhere.get(name) or self.elsewhere.get(scope):
            return f"It comes from {origin}, so the public registry is not asked for it."
        if not self.private or name in self.public or scope in self.public:
            return ""
        return (
            f"It may come from {self.private}: no lock file says that it is public, so the public registry is not "
            "asked for it."
        )

    def note_index(self, value: Any, file: str) -> None:
        """Note the indexes of a setting: addresses, or a list of them."""
        for url in value if isinstance(value, list) else str(value).split():
            host = self._stranger(str(url))
            if host and not self.private:
                self.private = f"{host} ({file})"

    def note_package(self, name: str, index: Any, file: str) -> None:
        """Note the index or file that a package or scope comes from."""
        if host := self._stranger(str(index)):
            self.elsewhere.setdefault(name, f"{host} ({file})")
        else:
            self.public.add(name)

    def _stranger(self, value: str) -> str:
        """Names an index, by its host, that is not a public one; "" for a public one."""
        url = value.strip("\"' ")
        if _NAMED.match(url):
            url = url.partition("=")[2]
        if "$" in url:
            return "another index"
        if not re.match(r"[\w+.-]+://", url):
            return "another index" if url.startswith("-") else "a folder"
        authority = re.split(r"[/?#]", url.partition("://")[2])[0]
        host = _USUAL_PORT.sub("", authority.rpartition("@")[2].lower())
        if host in self._known:
            return ""
        return host if _HOST.fullmatch(host) else "another index"

    def as_json(self) -> dict[str, Any]:
        """The arguments of an equal one, but for the known hosts."""
        return {"private": self.private, "public": sorted(self.public), "elsewhere": self.elsewhere}
