"""Services that a process of Helix holds open: database, models, engine and answer pipeline."""

from helix.retrieval.vector_space import gate_ceiling
from helix.services.lifespan import open_services
from helix.services.services import Services
from helix.services.stores import open_store
from helix.storage.database import open_url

__all__ = ["Services", "gate_ceiling", "open_services", "open_store", "open_url"]
