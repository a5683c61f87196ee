"""Small instances, written in each form."""

from collections.abc import Callable, Sequence

from benchmarks.benchmark_instances import Rule
from planner_mcp.formats.instances.published_instance import PublishedInstance
from planner_mcp.formats.instances.solomon_li_lim import read_li_lim, read_solomon
from planner_mcp.formats.instances.vrplib_format import read_vrplib

Node = tuple[int, int, int, int, int, int]
"""x, y, demand, opens, closes, service; the depot first."""

NODES: tuple[Node, ...] = (
    (50, 50, 0, 0, 1000, 0),
    (20, 31, 7, 0, 900, 10),
    (81, 44, 5, 100, 400, 10),
    (35, 77, 9, 0, 900, 10),
    (66, 12, 4, 200, 700, 10),
)
HEADER = ("NAME : toy", "COMMENT : (five nodes)", "TYPE : CVRP", "EDGE_WEIGHT_TYPE : EUC_2D", "CAPACITY : 14")


def vrplib(nodes: Sequence[Node] = NODES, *, header: Sequence[str] = HEADER) -> str:
    """Return the nodes as CVRPLIB writes them."""
    lines = [*header, f"DIMENSION : {len(nodes)}", "NODE_COORD_SECTION"]
    lines += [f"{number} {node[0]} {node[1]}" for number, node in enumerate(nodes, 1)]
    lines += ["DEMAND_SECTION", *(f"{number} {node[2]}" for number, node in enumerate(nodes, 1))]
    return "\n".join([*lines, "DEPOT_SECTION", "1", "-1", "EOF", ""])


def solomon(nodes: Sequence[Node] = NODES, *, vehicles: int = 3) -> str:
    """Return the nodes as Solomon writes them."""
    head = ["TOY", "", "VEHICLE", "NUMBER     CAPACITY", f"  {vehicles}   14", "", "CUSTOMER"]
    head += ["CUST NO.  XCOORD.   YCOORD.    DEMAND   READY TIME  DUE DATE   SERVICE TIME", ""]
    rows = [f"{number} {' '.join(map(str, node))}" for number, node in enumerate(nodes)]
    return "\r\n".join([*head, *rows, ""])


def li_lim(nodes: Sequence[Node] = NODES, *, vehicles: int = 3) -> str:
    """Return the nodes as Li and Lim write them: each even one delivers what the one before it picks up."""
    rows = [f"0 {' '.join(map(str, nodes[0]))} 0 0"]
    for number in range(1, len(nodes) - 1, 2):
        (x, y, demand, *times), (x2, y2, _, *times2) = nodes[number], nodes[number + 1]
        rows.append(f"{number} {x} {y} {demand} {' '.join(map(str, times))} 0 {number + 1}")
        rows.append(f"{number + 1} {x2} {y2} {-demand} {' '.join(map(str, times2))} {number} 0")
    return "\n".join([f"{vehicles}\t14\t1", *rows, ""])


Read = Callable[..., PublishedInstance]
FORMS: dict[str, tuple[Read, Callable[..., str], Rule]] = {
    "vrplib": (read_vrplib, vrplib, Rule(read_vrplib, 1, "round", 1)),
    "solomon": (read_solomon, solomon, Rule(read_solomon, 10, "floor", 10)),
    "li_lim": (read_li_lim, li_lim, Rule(read_li_lim, 1000, "round", 1000)),
}
