"""A Redis Cluster on loopback: three primaries, with a replica each where asked, and nodes to kill."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import redis
from redis.crc import key_slot

from tests.shared.store.valkey_server import Valkey

IS_CLUSTER = os.environ.get("STORE") == "cluster"
"""Whether the tests run on a cluster of three nodes instead of one server."""
NODES = 3
SLOTS = 16384
AGREE_S = 30.0


class Cluster:
    """Nodes that have met.

    Args:
        primaries: Each with a third of the slots.
        replicas: One for each primary, or none.
    """

    def __init__(self, primaries: list[Valkey], replicas: list[Valkey]) -> None:
        self.primaries = primaries
        self.nodes = [*primaries, *replicas]

    @property
    def url(self) -> str:
        """Of one of the nodes; the others are found through it."""
        return self.primaries[0].url

    @staticmethod
    def slot_of(shard: int) -> int:
        """Return the slot a pool lies in."""
        return int(key_slot(f"{{p{shard}}}".encode()))

    def holder(self, shard: int) -> Valkey:
        """Return the primary a pool began on."""
        return self.primaries[self.slot_of(shard) * NODES // SLOTS]

    def replica_of(self, shard: int) -> Valkey:
        """Return the replica a pool began with."""
        return self.nodes[NODES:][self.primaries.index(self.holder(shard))]

    def pools_of(self, node: Valkey, pools: int) -> set[int]:
        """Return the pools that began on a primary."""
        return {shard for shard in range(pools) if self.holder(shard) is node}

    def holders_now(self) -> list[Valkey]:
        """Return the primaries that run."""
        return [node for node in self.nodes if node.process and node.ask("ROLE")[0] == "master"]

    def until_replaced(self, dead: Valkey) -> None:
        """Return when a replica has the slots of a node that was killed."""
        others = [node for node in self.nodes if node is not dead]
        until(lambda: all(dead.port not in _primaries(node) for node in others))

    def all_nodes_report(self, words: str) -> bool:
        """Return whether every node says something of the cluster."""
        return all(words in node.ask("CLUSTER", "INFO").split() for node in self.nodes)

    def form(self) -> None:
        """Deal the slots, introduce the nodes, and wait until they agree."""
        for number, node in enumerate(self.primaries):
            first, end = (SLOTS * index // NODES for index in (number, number + 1))
            node.ask("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
        for node in self.nodes[1:]:
            node.ask("CLUSTER", "MEET", "127.0.0.1", self.primaries[0].port)
        until(lambda: self.all_nodes_report(f"cluster_known_nodes:{len(self.nodes)}"))
        for primary, replica in zip(self.primaries, self.nodes[NODES:], strict=False):
            name = primary.ask("CLUSTER", "MYID")
            until(lambda replica=replica, name=name: replica.ask("CLUSTER", "REPLICATE", name) in (True, "OK"))
        self.until_whole()

    def until_whole(self) -> None:
        """Return when every node finds the cluster in order, and every replica has what its primary has."""
        until(lambda: self.all_nodes_report("cluster_state:ok") and self.all_nodes_report("cluster_slots_fail:0"))
        until(
            lambda: all(node.ask("INFO", "replication").get("master_link_status", "up") == "up" for node in self.nodes)
        )


def _primaries(node: Valkey) -> set[int]:
    """Return the ports of those that hold slots, as a node sees it."""
    return {int(primary[1]) for _first, _last, primary, *_replicas in node.ask("CLUSTER", "SLOTS")}


@contextmanager
def cluster_of_three(folder: Path, *, replicas: bool = False, **options: str) -> Iterator[Cluster]:
    """Run a cluster for the length of a block.

    Args:
        folder: Where the nodes keep what they know.
        replicas: Whether each primary has one.
        options: Of every node, beside those that make it one.
    """
    usual = {"cluster_enabled": "yes", "appendonly": "no", "repl_diskless_sync_delay": "0"}
    names = [f"primary-{number}" for number in range(NODES)] + [f"replica-{n}" for n in range(NODES if replicas else 0)]
    with ExitStack() as stack:
        nodes = [stack.enter_context(Valkey(folder / name, **{**usual, **options})) for name in names]
        cluster = Cluster(nodes[:NODES], nodes[NODES:])
        cluster.form()
        yield cluster


@contextmanager
def three_nodes() -> Iterator[str]:
    """Run a cluster without replicas for the length of a block; its URL."""
    with tempfile.TemporaryDirectory(prefix="planner-") as folder, cluster_of_three(Path(folder)) as cluster:
        yield cluster.url


def until(is_so: Callable[[], object]) -> None:
    """Wait for a cluster to agree."""
    ends_at = time.monotonic() + AGREE_S
    while time.monotonic() < ends_at:
        with suppress(redis.RedisError):
            if is_so():
                return
        time.sleep(0.05)
    raise TimeoutError
