"""Metadata of YAML front matter. Runs in the sandbox, as all that reads a stranger's file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix.domain.metadata import MOST_KEYS, checked_metadata, inferred, json_of
from helix.errors import BadRequest

if TYPE_CHECKING:
    from yaml.nodes import Node

_NULL = "tag:yaml.org,2002:null"
_TITLE = "title"
_LINES_ABOVE = 2
"""From a line of the block, counted from 0, to that of the file: the block begins below `---`."""


def metadata_of(block: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The keys of a block with a scalar or a list of scalars, and what of them cannot be taken.

    The title is none: it is the document's. A scalar without quotes is what it looks like, by the
    rules of every other way in (YAML 1.1 would make 0123 the number 83). A block that is no YAML
    has none, which is told: filters would miss the document without a word otherwise.
    """
    import yaml  # few files have front matter

    try:
        root = yaml.compose(block, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f": see line {mark.line + _LINES_ABOVE}" if mark else ""
        return {}, (f"front matter: it is no YAML, so none of its keys is taken{line}",)
    found: dict[str, Any] = {}
    warnings = []
    for key, node in root.value if isinstance(root, yaml.MappingNode) else ():
        if not isinstance(key, yaml.ScalarNode) or key.value.lower() == _TITLE:
            continue
        try:
            if (value := _value(f"metadata.{key.value[:80]}", node)) is not None:
                found |= checked_metadata({key.value: value})
        except BadRequest as error:
            warnings.append(f"front matter: {error}")
    if len(found) > MOST_KEYS:
        warnings.append(f"front matter: it has {len(found)} keys; the first {MOST_KEYS} are taken")
    return dict(list(found.items())[:MOST_KEYS]), tuple(warnings)


def _value(name: str, node: Node) -> Any:
    """The JSON of a scalar or a list of scalars; None of null and of an empty text.

    Raises:
        BadRequest: it is neither; a part of it would be another value than the author's.
    """
    import yaml

    if isinstance(node, yaml.SequenceNode) and all(
        isinstance(item, yaml.ScalarNode) for item in node.value
    ):
        items = [_value(name, item) for item in node.value]
        return [item for item in items if item is not None] or None
    if not isinstance(node, yaml.ScalarNode):
        raise BadRequest(f"{name} is neither a value nor a list of values, so it is left out")
    if node.tag == _NULL:
        return None
    text = " ".join(node.value.split())
    return json_of(text if node.style else inferred(name, text)) if text else None
