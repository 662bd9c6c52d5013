"""Services that a process of Helix holds open: database, models, engine and answer pipeline."""

from helix.services.lifespan import open_services
from helix.services.services import Services

__all__ = ["Services", "open_services"]
