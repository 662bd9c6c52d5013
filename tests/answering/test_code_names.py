"""Names in an answer's code: what the documents have, what the code defines, what nobody has."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from helix.answering.code.links import code_in, linked_names, without_code
from helix.answering.code.names import names_in
from helix.domain.context import Source, sources_of
from helix.domain.records import Hit

DOCUMENTATION = """# Client

`Client(base_url, timeout=30)` opens a connection, and question is what is asked.

```python
client = Client("http://localhost")
answer = client.ask(question, top_k=5)
```

`helix ask --mode agent` asks. The setting HELIX_LLM names the model.
"""
AT = 100


def source(text: str = DOCUMENTATION) -> Source:
    hit = Hit(7, 3, "Client", "client.md", 0, text, AT, AT + len(text), "node", 0.1)
    (made,) = sources_of([hit])
    return made


def statuses(code: str, language: str) -> dict[str, str]:
    """The status of each name in a fenced block, the last of one that comes again."""
    answer = f"Use it so [1]:\n\n```{language}\n{code}\n```\n"
    found = linked_names(answer, [source()])
    for one in found:
        assert answer[one.start : one.end] == one.name
        if one.status == "documented":
            assert one.source_start is not None and one.source_end is not None
            assert DOCUMENTATION[one.source_start - AT : one.source_end - AT] == one.name
            assert (one.n, one.chunk_id, one.document_id) == (1, 7, 3)
        else:
            assert one.n is one.chunk_id is one.source_start is None
    return {one.name: one.status for one in found}


def test_names_of_python_are_documented_own_or_in_no_document() -> None:
    code = (
        "from helix import Client as Helix\n"
        "mine = Helix(base_url='x', retries=3)\n"
        "def told(item: str) -> None:\n    print(len(item))\n"
        "for one in mine.ask(words, top_k=5):\n    told(one)\n"
    )
    assert statuses(code, "python") == {
        "helix": "documented", "Client": "documented", "Helix": "local", "mine": "local",
        "base_url": "documented", "retries": "undocumented", "told": "local", "item": "local",
        "one": "local", "ask": "documented", "words": "undocumented", "top_k": "documented",
    }  # fmt: skip


def test_keywords_and_builtins_are_no_names() -> None:
    code = "for n in range(3):\n    try:\n        print(None)\n    except ValueError:\n        pass"
    assert statuses(code, "python") == {"n": "local"}


def test_code_that_python_cannot_parse_is_read_by_its_tokens() -> None:
    assert statuses("mine = Client(base_url='x'", "python") == {
        "mine": "local", "Client": "documented", "base_url": "documented",
    }  # fmt: skip


def test_commands_options_and_variables_of_a_shell() -> None:
    code = "export HELIX_LLM=offline\nOWN=1 helix ask --mode agent --verbose | grep -v foo"
    assert statuses(code, "bash") == {
        "HELIX_LLM": "documented", "OWN": "local", "helix": "documented", "ask": "documented",
        "--mode": "documented", "agent": "documented", "--verbose": "undocumented",
        "grep": "undocumented", "-v": "undocumented",
    }  # fmt: skip


def test_declarations_of_other_languages_are_own() -> None:
    code = 'const mine = new Client({base_url: "x"});\nmine.ask(question).then(told => told.size);'
    assert statuses(code, "javascript") == {
        "mine": "local", "Client": "documented", "base_url": "documented", "ask": "documented",
        "question": "documented", "then": "undocumented", "told": "local", "size": "undocumented",
    }  # fmt: skip


def test_keys_of_json_are_names_and_options_in_strings_are() -> None:
    assert statuses('{"top_k": 5, "depth": "top_k"}', "json") == {
        "top_k": "documented", "depth": "undocumented",
    }  # fmt: skip
    assert statuses("run(['helix', '--mode', '--loud'])", "python") == {
        "run": "undocumented", "--mode": "documented", "--loud": "undocumented",
    }  # fmt: skip


def test_a_dotted_name_is_preferred_to_the_name_alone() -> None:
    text = "`ask` is a word.\n\n`client.ask(question)` asks."
    answer = "```python\nclient.ask(x)\n```"
    found = {one.name: one for one in linked_names(answer, [source(text)])}
    assert found["ask"].source_start == AT + text.index("client.ask") + len("client.")


def test_code_without_a_language_is_linked_and_never_marked() -> None:
    answer = "The option `top_k`, not `depth`:\n\n```\ntop_k depth question\n```\n"
    found = linked_names(answer, [source()])
    assert [(one.name, one.status) for one in found] == [
        ("top_k", "documented"), ("top_k", "documented"), ("question", "documented"),
    ]  # fmt: skip


def test_no_code_is_a_sentence_or_a_marker() -> None:
    answer = "Take it [1].\n\n```python\nvalues[1] = 2\n```\n\nThen `a[2]` is so [3]."
    prose = without_code(answer)
    assert len(prose) == len(answer) and "values" not in prose
    assert "[1]" in prose and "[3]" in prose and "[2]" not in prose


def test_a_block_that_is_not_closed_ends_with_the_text() -> None:
    (block,) = code_in("Well:\n~~~~sh\nls\n~~~\n")
    assert (block.language, block.end) == ("sh", len("Well:\n~~~~sh\nls\n~~~\n"))


@given(st.text(alphabet="`~[1]ab.=\n -#'\"({", max_size=200))
def test_any_text_keeps_its_length_and_its_names_their_places(text: str) -> None:
    assert len(without_code(text)) == len(text)
    for language in ("python", "bash", "json", "javascript", ""):
        for one in names_in(text, language):
            assert text[one.start : one.end] == one.name
