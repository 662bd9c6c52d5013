"""Plugins: additions of installed packages to Helix's own lists, by entry points (docs/plugins.md).

An entry point's name is the plugin's, its value ``module:name``. Packages are looked through once a
process, and only when a list is asked for a name that Helix itself has not; a module is imported
when its plugin is used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from helix.errors import HelixError, SettingsError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

LLMS, EMBEDDERS = "helix.llms", "helix.embedders"
READERS, SOURCES, TOOLS = "helix.readers", "helix.sources", "helix.tools"
GROUPS = (LLMS, EMBEDDERS, READERS, SOURCES, TOOLS)

_Loaded = TypeVar("_Loaded")
_logger = logging.getLogger(__name__)


class PluginFailed(SettingsError):
    """A plugin cannot be used; the message names it, its package and the reason, in one line."""


@dataclass(frozen=True)
class Plugin:
    """One entry point. ``target`` is ``module:name``, ``package`` is "helix-shout 1.0"."""

    group: str
    name: str
    target: str
    package: str

    def load(self) -> Any:
        """The object that the target names.

        Raises:
            PluginFailed: it cannot be imported, is not in its module, or is no function.
        """
        module, _, path = self.target.partition(":")
        try:
            found: Any = import_module(module)
            for name in path.split("."):
                found = getattr(found, name)
        except Exception as error:  # a module of somebody else's may raise anything
            raise self.failed(_told(error)) from error
        if self.group != TOOLS and not callable(found):
            raise self.failed("it is no function")
        return found

    def call(self, *values: Any, **options: Any) -> Any:
        """The result of calling the target.

        Raises:
            PluginFailed: it cannot be loaded, or fails.
            HelixError: its own.
        """
        target = self.load()
        try:
            return target(*values, **options)
        except HelixError:
            raise
        except Exception as error:  # as above
            raise self.failed(_told(error)) from error

    def failed(self, reason: str) -> PluginFailed:
        """The error that says so; of ``reason`` its first line."""
        where = f"the plugin {self.name!r} of {self.package} ({self.group}, {self.target})"
        return PluginFailed(f"{where} cannot be used: {reason.partition(chr(10))[0]}")


def _told(error: Exception) -> str:
    if isinstance(error, KeyError):  # its text is the bare key: os.environ["ACME_URL"]
        return f"it wants {error}, which is not set (KeyError)"
    return f"{type(error).__name__}: {error}"


@cache
def plugins(group: str) -> Mapping[str, Plugin]:
    """The plugins of a group by name; of two with one name the first by package counts."""
    found: dict[str, Plugin] = {}
    for plugin in installed(group):
        first = found.setdefault(plugin.name, plugin)
        if first is not plugin:
            _logger.error("%s", plugin.failed(f"{first.package} has one of this name"))
    return found


def installed(group: str) -> list[Plugin]:
    """All entry points of a group, by package and name."""
    from importlib.metadata import entry_points  # 12 ms over 250 packages

    points = {_plugin(point) for point in entry_points(group=group)}
    return sorted(points, key=lambda plugin: (plugin.package, plugin.name))


def _plugin(point: EntryPoint) -> Plugin:
    package = f"{point.dist.name} {point.dist.version}" if point.dist else "a package"
    return Plugin(point.group, point.name, point.value.partition("[")[0].strip(), package)


def loaded(
    group: str, taken: Iterable[str], load: Callable[[Plugin], _Loaded]
) -> Iterator[_Loaded]:
    """The results of ``load`` for the plugins of a group; those that fail are logged, left out.

    ``taken`` are names that Helix itself has.
    """
    own = set(taken)
    for plugin in plugins(group).values():
        try:
            if plugin.name in own:
                raise plugin.failed("Helix itself has one of this name")
            yield load(plugin)
        except PluginFailed as failure:
            _logger.error("%s", failure)
