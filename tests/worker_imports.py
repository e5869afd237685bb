"""What a worker of a cluster imports sooner or later, for the process from which workers fork."""

# ruff: noqa: F401

import dask.dataframe
import distributed.http.worker
import distributed.nanny
import distributed.protocol.numpy
import numba
import pyarrow.parquet

import pygeco.bayes
import pygeco.engines.cpu.engine
import pygeco.engines.dask.cluster
import pygeco.io.partitioned
import pygeco.models
import pygeco.objectives

numba.njit("float64(float64)")(lambda x: x)  # the first compilation loads half of numba
