"""Suites of the public sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.cases import CaseError
from evals.suites import SUITES, SuiteOptions, build_suite


@pytest.mark.parametrize("name", [name for name in SUITES if name != "golden"])
def test_a_public_set_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"cannot be read: --data is to have|there are no"):
        build_suite(name, SuiteOptions(tmp_path, tmp_path, 3))
    with pytest.raises(CaseError, match="is no folder"):
        build_suite(name, SuiteOptions(tmp_path / "none", tmp_path, 3))
