"""The engine "dask": cells and row factors in slabs on the workers of a cluster."""

from pygeco.engines.dask.cluster import borrow_client, engine
from pygeco.engines.dask.passes import Dask
from pygeco.engines.dask.slabs import Slab, Slabs
from pygeco.errors import ClusterError, WorkerLostWarning

__all__ = ["ClusterError", "Dask", "Slab", "Slabs", "WorkerLostWarning", "borrow_client", "engine"]
