"""The fits that Helix brings, by the embedder's identity.

Written by ``python -m evals.calibration.world --write`` (evals/CALIBRATION.md).
"""

from __future__ import annotations

from helix.calibration.model import GateModel

_OFFLINE = GateModel(
    embedder="offline:wordllama-l2_supercat-256",
    weights=(1.1567, 0.5402, 0.523, 0.3276, 0.0652, 0.1339, 0.1525),
    means=(-0.613, 0.3913, 0.495, 0.6288, 0.8248, 0.9586, 0.9567),
    deviations=(0.154, 0.2273, 0.2931, 0.4462, 0.2495, 0.1993, 0.2036),
    intercept=-0.2950,
    least=0.383,
)
PACKAGED = {model.embedder: model for model in (_OFFLINE,)}
"""By ``Embedder.identity``; another embedder needs a fit of its own (docs/calibration.md)."""
