"""The numbers of an MPI rank in its job and on its node, by mpi4py, which is imported only when it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Where:
    """The numbers of a rank that computes; a configuration may name them as parameters."""

    rank: int = 0
    size: int = 0
    local_rank: int = 0  #: among the ranks of its node
    local_size: int = 0
    node: int = 0  #: in the order of the nodes' first ranks
    nodes: int = 1

    def parameters(self) -> dict[str, int]:
        """Returns them as the parameters of these names."""
        return asdict(self)


def node_of(comm: Any) -> Any:
    """Returns the communicator of the ranks of ``comm`` on this node, in the same order. The caller frees it."""
    from mpi4py import MPI

    if not isinstance(comm, MPI.Intracomm):
        raise TypeError(f"comm: expected an intracommunicator of mpi4py, found {type(comm).__name__}")
    if comm == MPI.COMM_NULL:
        raise ValueError("comm: found MPI.COMM_NULL, which a rank that was a server gets, expected a communicator")
    return comm.Split_type(MPI.COMM_TYPE_SHARED, key=comm.Get_rank())


def count_nodes(comm: Any, node: Any) -> int:
    """Returns the number of nodes of ``comm``. Collective."""
    return int(comm.allreduce(1 if node.Get_rank() == 0 else 0))


def where(comm: Any) -> Where:
    """Returns the numbers of this rank in ``comm``. Collective."""
    node = node_of(comm)
    try:
        rank, local_rank = comm.Get_rank(), node.Get_rank()
        first = 1 if local_rank == 0 else 0
        number = comm.exscan(first) or 0  # None on the first rank
        return Where(rank, comm.Get_size(), local_rank, node.Get_size(), node.bcast(number, root=0),
                     count_nodes(comm, node))
    finally:
        node.Free()


@contextmanager
def together(comm: Any) -> Iterator[None]:
    """Ends on all ranks at once, also if one of them fails: the server ends with its last client, and so could end
    before a slow rank comes."""
    try:
        yield
    finally:
        comm.Barrier()
