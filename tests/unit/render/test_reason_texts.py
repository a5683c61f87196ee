"""Reasons and fixes in Chinese."""

import pytest

from planner_mcp.render.reason_texts import changes_text, reason_text
from planner_mcp.routing.feasibility.unassigned_reasons import PROVED
from planner_mcp.routing.plan import Unassigned
from tests.shared.tools.chinese_reader import in_chinese

LATE = "the route would end after the agent's shift and overtime."


@pytest.mark.parametrize(
    ("code", "detail", "chinese"),
    [
        (
            "SHIFT_END",
            f"{PROVED} {LATE}",
            "即使车辆没有其他工单，也没有一辆能服务它；最接近的一辆：路线结束时会超过车辆的班次和加班时间。",
        ),
        ("GROUP_OTHER_CHOSEN", "Another ticket of its group is served.", "已服务同组的另一个工单。"),
        (
            "NO_ROAD",
            "No agent can drive to A {0}: it is 900 m from the nearest road. Check it.",
            "没有车辆能开到 A {0}（900 m from the nearest road）。"
            "请检查其位置，或移到车辆可通行的街道上；地图也可能未覆盖该处。",
        ),
        (
            "NO_POSITION",
            "Its address is not sure, so its place has no position. Ask the user.",
            "其地点的地址没有得到位置。请向用户询问该地点的 lat 和 lon，或更完整的地址。",
        ),
        ("FROM_OLD_STORE", "A text of an older version.", "A text of an older version."),
    ],
)
def test_a_reason_is_given_in_the_language_of_its_reader(code: str, detail: str, chinese: str) -> None:
    """SPEC T11: a plan keeps its reasons in English; who reads them may have them in Chinese."""
    entry = Unassigned("t", code, detail)
    assert (reason_text(entry, "en"), reason_text(entry, "zh")) == (detail, chinese)


def test_the_changes_of_a_fix_are_given_in_the_language_of_the_task() -> None:
    """SPEC T11: values and ids of the caller stay as they are."""
    changes = ("give v cold, or {} the skill cold, or drop it from t-1; allow v for t-1", "raise its penalty to 9")
    assert changes_text(changes) == "; ".join(changes)
    with in_chinese():
        found = changes_text(("raise the capacity (load) of v{x} to 3", "widen the time window of t-1 to 18:00"))
    assert found == "把 v{x} 的载量（load）提高到 3; 把 t-1 的时间窗放宽到 18:00"
