"""The calibrated gate: a search's signals, the fitted model over them, and where fits are kept."""

from helix.retrieval.calibration.fits import Calibration, build_calibration
from helix.retrieval.calibration.model import GateModel
from helix.retrieval.calibration.signals import SIGNALS, signals

__all__ = ["SIGNALS", "Calibration", "GateModel", "build_calibration", "signals"]
