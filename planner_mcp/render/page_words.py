"""The words of printed pages in English and Chinese, and which of them a day gets.

Owns these words.
"""

from collections.abc import Mapping
from typing import Final

from planner_mcp.routing.scenario.shown_scenario import ShownScenario
from planner_mcp.routing.scenario.written_language import language_of

Words = Mapping[str, str]
ENGLISH: Final[Words] = {
    "language": "en",
    "sheets": "Driver sheets",
    "stops": "stops",
    "loaded": "On board at start",
    "deliver": "Deliver",
    "pickup": "Pick up",
    "window": "Window",
    "from": "from {}",
    "until": "until {}",
    "starts": "starts",
    "leaves": "leaves",
    "late": "late by {} min",
    "note": "Note",
    "break": "Break",
    "reload": "Load again",
    "back": "End",
    "done": "Done",
    "signature": "Signature",
    "driver": "Driver's signature",
    "date": "Date",
    "route": "Route {}–{}",
    "units": "units",
    "nobody": "No agent drives.",
    "served": "{} of {} tickets served",
    "agents": "{} agents",
    "more": "and {} more",
    "depot": "depot",
    "left_out": "not served",
    "nowhere": "No positions are known.",
    "cost": "cost",
    "unpriced": "cost at 1 per metre, as no prices are given",
    "distance": "distance",
    "agents_used": "agents used",
    "hours": "hours on the road",
    "waiting": "hours of waiting",
    "map": "Routes on the map",
    "legend": "A line is a route in the colour of its agent, an arrow its direction, a number the stop in it, "
    "a square a depot, a cross a ticket that is not served.",
    "agents_table": "Agents",
    "agent": "agent",
    "tickets": "tickets",
    "from_to": "from–to",
    "load": "load",
    "of_capacity": "of capacity",
    "total": "total",
    "curve": "Best cost while solving",
    "timeline": "Timeline",
    "timeline_legend": "A block is service, a low block setting up, a dashed one waiting, "
    "a grey one a break, a red edge lateness, the thin line the way.",
    "left_out_table": "Tickets not served",
    "ticket": "ticket",
    "customer": "customer",
    "reason": "reason",
    "stops_table": "Stops",
    "where": "where",
    "arrives": "arrives",
    "starts_head": "starts",
    "leaves_head": "leaves",
    "late_head": "late, min",
    "days": "Mon,Tue,Wed,Thu,Fri,Sat,Sun",
}
CHINESE: Final[Words] = {
    "language": "zh",
    "sheets": "司机路单",
    "stops": "站",
    "loaded": "出发载货",
    "deliver": "送货",
    "pickup": "取货",
    "window": "时间窗",
    "from": "{} 起",
    "until": "{} 前",
    "starts": "开始",
    "leaves": "离开",
    "late": "晚到 {} 分钟",
    "note": "备注",
    "break": "休息",
    "reload": "补货",
    "back": "返回",
    "done": "完成",
    "signature": "签收",
    "driver": "司机签字",
    "date": "日期",
    "route": "路线 {}–{}",
    "units": "单位",
    "nobody": "没有车辆出车。",
    "served": "已服务 {} / {} 个工单",
    "agents": "{} 辆车",
    "more": "另有 {} 辆",
    "depot": "车场",
    "left_out": "未服务",
    "nowhere": "没有已知的位置。",
    "cost": "成本",
    "unpriced": "成本（未给价格，按每米 1 计）",
    "distance": "里程",
    "agents_used": "出车数",
    "hours": "在途小时",
    "waiting": "等待小时",
    "map": "路线地图",
    "legend": "线是路线，颜色对应车辆；箭头是方向；数字是路线内序号；方块是车场；叉是未服务的工单。",
    "agents_table": "车辆",
    "agent": "车辆",
    "tickets": "工单",
    "from_to": "时间",
    "load": "载量",
    "of_capacity": "满载率",
    "total": "合计",
    "curve": "求解中的最优成本",
    "timeline": "时间轴",
    "timeline_legend": "色块是服务，矮色块是准备，虚框是等待，灰块是休息，红边是晚到，细线是行驶。",
    "left_out_table": "未服务的工单",
    "ticket": "工单",
    "customer": "客户",
    "reason": "原因",
    "stops_table": "停靠点",
    "where": "地点",
    "arrives": "到达",
    "starts_head": "开始",
    "leaves_head": "离开",
    "late_head": "晚到（分钟）",
    "days": "周一,周二,周三,周四,周五,周六,周日",
}


UNITS: Final[Mapping[str, Words]] = {
    "en": {"weight_kg": "kg", "volume_m3": "m³"},
    "zh": {"weight_kg": "kg", "volume_m3": "m³", "pallets": "托", "boxes": "箱", "parcels": "包裹", "pieces": "件"},
}
"""What dimensions of imported amounts are called, by language; those that a caller names keep their names."""
ONE_OF: Final[Mapping[str, Words]] = {
    "en": {"pallets": "pallet", "boxes": "box", "parcels": "parcel", "pieces": "piece"},
    "zh": {},
}
"""What dimensions are called in the singular, by language."""


def page_words_of(scenario: ShownScenario) -> Words:
    """Return the words of the language that a scenario is written in."""
    return CHINESE if language_of(scenario) == "zh" else ENGLISH
