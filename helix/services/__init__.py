"""Services that a process of Helix holds open: database, models, engine and answer pipeline."""

from helix.services.lifespan import Services, open_services

__all__ = ["Services", "open_services"]
