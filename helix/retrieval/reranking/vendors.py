"""The common part of LlamaIndex's rerankers: nodes in, nodes out, over blocking HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable

from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import SecretStr

from helix.errors import SettingsError, UpstreamError
from helix.retrieval.reranking.base import BlockingReranker

THREADS = 8
"""Requests to a vendor at once. They wait rather than compute; a ninth question waits its turn."""


class PostprocessorReranker(BlockingReranker):
    """A LlamaIndex postprocessor that has a ``top_n``, as a ``Reranker``.

    ``close`` is called once, at the end.
    """

    def __init__(
        self,
        postprocessor: BaseNodePostprocessor,
        identity: str,
        min_score: float | None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(identity, min_score, THREADS)
        self._postprocessor = postprocessor
        self._close = close

    async def aclose(self) -> None:
        await super().aclose()
        self._close()

    def _scores(self, question: str, texts: list[str]) -> list[float]:
        # Nodes without metadata: the integrations send a node's metadata with its text.
        nodes = [
            NodeWithScore(node=TextNode(id_=str(place), text=text))
            for place, text in enumerate(texts)
        ]
        # A copy a call: the integrations cut at top_n, and a callback manager that threads share
        # keeps the id of every event.
        one = self._postprocessor.model_copy(
            update={"top_n": len(nodes), "callback_manager": CallbackManager([])}
        )
        try:
            ranked = one.postprocess_nodes(nodes, QueryBundle(question))
        except Exception as error:  # noqa: BLE001 - the vendors' errors share no root
            # From None: what they raise may hold the key, the question or the texts.
            kind = type(error).__name__
            remedy = "check its key, its limits and the model's name"
            raise UpstreamError(f"{self.identity} failed ({kind}): {remedy}") from None
        return self._in_order(ranked, len(texts))

    def _in_order(self, ranked: list[NodeWithScore], count: int) -> list[float]:
        """The scores in the order of the texts, each of which must have exactly one."""
        scores = {int(hit.node.node_id): hit.score for hit in ranked if hit.score is not None}
        if not len(scores) == len(ranked) == count:
            raise UpstreamError(
                f"{self.identity} gave {len(scores)} scores for {count} texts: try again"
            )
        return [scores[place] for place in range(count)]


def usable_key(key: SecretStr | None, variable: str, choice: str, address: str) -> str:
    """``key`` as an HTTP header can carry it; ``variable`` is where it comes from.

    Raises:
        SettingsError: there is none, or it has characters that no key has.
    """
    text = key.get_secret_value().strip() if key else ""
    if not re.fullmatch(r"[!-~]+", text):
        problem = "has characters that no key has" if text else "is not set"
        raise SettingsError(
            f"{variable} {problem}: HELIX_RERANKER={choice} needs a key from {address}"
        )
    return text
