"""Which column of a table is which field of a scenario: proposed from its header, Chinese or English (SPEC T5).

Owns the words. A header that is one of them is taken; one that is nearly one of them is taken and said to be a guess;
the rest is left out and said so. Whoever knows better names the field.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from planner_mcp.errors import Fault, input_error

_PLACE: Final = {
    "location": "location place site stop stop_name 地点 网点 门店 站点",
    "lat": "lat latitude y_wgs 纬度",
    "lon": "lon lng long longitude x_wgs 经度",
    "x": "x xcoord x_coord",
    "y": "y ycoord y_coord",
}
TICKETS: Final[Mapping[str, str]] = {
    **_PLACE,
    "id": "id ticket ticket_id order order_id order_no customer_no 编号 订单 订单号 订单编号 单号 运单号 客户编号",
    "demand": "demand quantity qty amount load weight kg units 需求 需求量 数量 重量 货量 件数",
    "kind": "kind type 类型 业务类型",
    "window": "window time_window time_windows tw delivery_window time_slot slot 时间窗 时间窗口 时间段 时段",
    "opens": "open opens ready ready_time window_start time_window_start tw_start earliest from "
    "开始时间 最早时间 最早到达 时间窗开始",
    "closes": "close closes due due_date due_time window_end time_window_end tw_end latest to "
    "结束时间 最晚时间 最晚到达 时间窗结束",
    "service_s": "service_s service service_time service_time_s service_seconds 服务时间 服务时长",
    "service_min": "service_min service_minutes service_time_min 服务分钟 服务时间分钟 装卸分钟",
    "priority": "priority 优先级",
    "penalty": "penalty prize 罚金",
    "skills": "skill skills 技能 车型要求",
    "name": "name customer customer_name contact 姓名 客户 客户名称 收货人 联系人",
    "address": "address addr street 地址 详细地址 收货地址",
    "phone": "phone tel telephone mobile 电话 手机 联系电话",
    "notes": "note notes comment remark 备注",
}
AGENTS: Final[Mapping[str, str]] = {
    **_PLACE,
    "id": "id agent agent_id vehicle vehicle_id truck plate 车辆 车辆编号 车牌 车牌号 编号",
    "capacity": "capacity load max_load payload kg 容量 载重 载重量 最大载重",
    "shift_start": "shift_start start_time begins start from 上班时间 开始时间 出车时间",
    "shift_end": "shift_end end_time ends end to 下班时间 结束时间 收车时间",
    "skills": "skill skills 技能 车型",
    "fixed_cost": "fixed_cost fixed 固定成本 出车费",
    "cost_per_km": "cost_per_km per_km 每公里成本 公里成本",
    "cost_per_hour": "cost_per_hour per_hour 每小时成本",
    "max_tickets": "max_tickets max_stops 最多单数",
    "name": "name driver 司机 姓名 驾驶员",
    "phone": "phone tel mobile 电话 手机",
}
_SUGGESTION_SIMILARITY: Final = 0.85
_OPENING: Final = frozenset("(（[")
_CLOSING: Final = frozenset(")）]")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_NO_WORD: Final = re.compile(r"[\W_]+")
_SERVICE: Final[Mapping[str, str | None]] = {
    **dict.fromkeys(["s", "sec", "secs", "second", "seconds", "秒"], "service_s"),
    **dict.fromkeys(["m", "min", "mins", "minute", "minutes", "分", "分钟"], "service_min"),
    **dict.fromkeys(["h", "hr", "hrs", "hour", "hours", "时", "小时"]),
}
"""Field of a service time by the unit in brackets; there is none for hours."""
_WITH_UNIT: Final = frozenset({"services", "servicetimes", "serviceseconds"})
"""Words of a service time whose unit is in them."""


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Which field each column is."""

    fields: dict[str, str]
    """Field by header."""
    guessed: tuple[str, ...]
    """Headers that only resemble a known word."""
    left_out: tuple[str, ...]
    """Headers that are no field."""


def propose_mapping(headers: Sequence[str], words: Mapping[str, str], chosen: Mapping[str, str]) -> ColumnMapping:
    """Return the mapping of a table's headers.

    Args:
        headers: As the table has them.
        words: `TICKETS` or `AGENTS`.
        chosen: Field by header, where the caller knows better; an empty field leaves the column out.

    Raises:
        InputError: A choice names no column or no field.
    """
    _refuse_unknown_headers(headers, words, chosen)
    known = {_plain(word): field for field, line in words.items() for word in (field, *line.split())}
    fields = {header: field for header, field in chosen.items() if field}
    guessed = []
    for is_exact in (True, False):  # what is a known word goes before what resembles one
        for header in headers:
            if header in chosen or header in fields:
                continue
            field = _named(header, known) if is_exact else _resembling(header, known)
            if field is not None and field not in fields.values():
                fields[header] = field
                guessed += [] if is_exact else [header]
    left_out = (header for header in headers if header not in fields)
    in_order = {header: fields[header] for header in headers if header in fields}
    return ColumnMapping(in_order, tuple(guessed), tuple(filter(None, left_out)))


def split_by_table(
    chosen: Mapping[str, str], tickets: Sequence[str], agents: Sequence[str], passed_over: Sequence[str] = ()
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the choices for tickets and those for agents, by the headers of both tables.

    A column that both have is the tickets', unless agents alone know the field. `passed_over` are the headers of a
    sheet of agents that is not used.

    Raises:
        InputError: A choice names a column of neither.
    """
    strangers = [header for header in chosen if header not in tickets and header not in agents]
    if strangers:
        accepted = ", ".join(dict.fromkeys((*tickets, *agents)))
        raise input_error([_unknown_header_fault(header in passed_over, accepted) for header in strangers])
    ours = {
        header: field
        for header, field in chosen.items()
        if header in tickets and (header not in agents or not field or field in TICKETS or field not in AGENTS)
    }
    return ours, {header: field for header, field in chosen.items() if header not in ours}


def _unknown_header_fault(is_passed_over: bool, accepted: str) -> Fault:
    if not is_passed_over:
        return Fault("columns", "There is no such column.", accepted)
    problem = "The column is of the sheet of agents, which is not read: others were given."
    return Fault("columns", problem, accepted, "Leave the column out, or the agents that were given.")


def unit_of(header: str) -> str:
    """Return what stands in the brackets of a header, which is a unit most often; empty where there are none."""
    return " ".join(split_brackets(header)[1]).strip().casefold()


def says_unit(header: str) -> bool:
    """Return whether the header of a service time says what it is measured in."""
    return bool(unit_of(header)) or _plain(header) in _WITH_UNIT


def _named(header: str, known: Mapping[str, str]) -> str | None:
    """Return the field a header names, by the unit of time in its brackets where it has one."""
    field = known.get(_plain(header))
    words = _LETTERS.findall(unit_of(header))
    if field != "service_s" or not words:
        return field
    return next((_SERVICE[word] for word in words if word in _SERVICE), None)


def _resembling(header: str, known: Mapping[str, str]) -> str | None:
    """Return the field of the word that a header resembles.

    Never that of a time, whose unit would be a guess too, nor that of a window: its beginning and its end resemble it.
    """
    near = get_close_matches(_plain(header), known, n=1, cutoff=_SUGGESTION_SIMILARITY)
    field = known[near[0]] if near else None
    return None if field in ("service_s", "service_min", "window") else field


def _refuse_unknown_headers(headers: Sequence[str], words: Mapping[str, str], chosen: Mapping[str, str]) -> None:
    accepted = ", ".join(headers)
    faults = [Fault("columns", "There is no such column.", accepted) for each in chosen if each not in headers]
    faults += [
        Fault("columns", "There is no such field.", ", ".join(words))
        for field in chosen.values()
        if field and field not in words
    ]
    if faults:
        raise input_error(faults)


def _plain(header: str) -> str:
    """Return a header without case, blanks, punctuation, and what stands in brackets (units, most often)."""
    return _NO_WORD.sub("", split_brackets(header)[0]).casefold()


def split_brackets(header: str) -> tuple[str, list[str]]:
    """Return a header without its brackets, and what stands in each of them; one that nothing closes is no bracket.

    Every character is looked at once.
    """
    outside: list[str] = []
    inside: list[str] = []
    opened = -1
    for at, char in enumerate(header):
        if opened < 0 and char in _OPENING:
            opened = at
        elif opened < 0:
            outside.append(char)
        elif char in _CLOSING:
            inside.append(header[opened + 1 : at])
            opened = -1
    return "".join(outside) + ("" if opened < 0 else header[opened:]), inside
