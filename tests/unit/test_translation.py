"""Chinese texts: there is one for each English text that clients see, and none is left over."""

import ast
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from planner_mcp.errors import Fault, InvalidParameterError, NotFoundError, error_catalogue, input_error
from planner_mcp.jobs.job_content import state_line
from planner_mcp.routing.feasibility.unassigned_reasons import PROVED
from planner_mcp.routing.infeasibility_reasons import REASONS
from planner_mcp.routing.scenario.schema_faults import PROBLEMS, describe
from planner_mcp.server.prompts.prompt_registry import PROMPTS
from planner_mcp.server.resources.resource_catalogue import FIXED, REPORT_FILE, TEMPLATES
from planner_mcp.server.tools.plans.suggest_fixes import SuggestFixesResult
from planner_mcp.server.tools.tool_definition import ToolResult
from planner_mcp.server.tools.tool_registry import ADDRESS_REGISTRY, APP_REGISTRY, OFFERS, REGISTRY, shown_tools
from planner_mcp.settings import Settings
from planner_mcp.translation import MAX_LINE, chinese_texts, preferred, translated, translated_line
from tests.shared.tools.chinese_reader import in_chinese
from tests.shared.tools.token_costs import tokens

PACKAGE = Path(__file__).parents[2] / "planner_mcp"
RELAXATIONS = PACKAGE / "routing" / "feasibility" / "relaxations.py"
SCHEMA_TEXTS = frozenset({"one of {}", "string of {} characters", "string matching {}", "array of {} items"})
"""What `schema_faults.describe` makes of a JSON Schema, beside the names of types and numbers."""
OF_STORED_PLANS = {"The agents that may serve it have no capacity left in this plan."}
"""What plans say that earlier versions stored."""
FEWEST_LETTERS = 8
"""Letters from which a text with values is known by its own words."""
KNOWN_BY_THEIR_FORM = {
    "{} added ({})": "a number or ids in brackets at its end",
    "{} removed ({})": "the same",
    "{} changed ({})": "the same",
    "changed: {}": "a word of ours and a colon, then names of fields",
    "{} gains {}:": "a colon at its end, and a word that no caller writes of goods",
    "{} loses {}:": "the same",
    "In all {}.": "the first words of a sentence, and its end",
    'Write "{}".': "quotation marks",
    "Name it {}.": "the first words of a sentence, and its end",
    "{} is no day.": "a whole sentence",
    "lacks {} of {}": "behind a code",
    "texts ({})": "brackets at its end",
    "times ({})": "the same",
    "codes ({})": "the same",
    "days ({})": "the same",
    "phones ({})": "the same",
    "amounts ({})": "the same",
    "numbers ({})": "the same",
    "windows ({})": "the same",
}
"""Why texts with fewer letters than `FEWEST_LETTERS` are hardly taken for what a caller wrote in a line."""
PARTS = ("problem", "accepted", "hint", "allowed")
"""What a fault says, as arguments and variables are called."""
FIRST_TEXT = {"Fault": 1, "reached": 0, "too_large": 1, "_ineligible": 1, "fault": 0, "_refusal": 2}
"""Where the texts of a fault begin among the arguments of what makes one."""
SAYING = {*FIRST_TEXT, "field_error", "phrase"}
"""Functions whose arguments are read."""
TOOLS = (*REGISTRY, *APP_REGISTRY, *ADDRESS_REGISTRY)


def texts_in(value: Any) -> Iterator[str]:
    """Yield the titles and descriptions in JSON."""
    if isinstance(value, list):
        for each in value:
            yield from texts_in(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key in ("title", "description") and isinstance(each, str):
                yield each
            else:
                yield from texts_in(each)


@dataclass(frozen=True)
class SourceTexts:
    """What a module has for readers; each module is parsed once.

    Args:
        templates: All texts, with `{}` for each value of an f-string.
        constants: Those that have a name and a type.
        calls: Of functions that say something, by their names.
        parts: What is assigned to a part of a fault.
    """

    templates: frozenset[str]
    constants: dict[str, str | None]
    calls: tuple[ast.Call, ...]
    parts: tuple[ast.expr, ...]


@cache
def texts_of(path: Path) -> SourceTexts:
    """Return the texts of a module."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    templates, calls, parts = set[str](), list[ast.Call](), list[ast.expr]()
    for node in ast.walk(module):
        if isinstance(node, ast.Constant | ast.JoinedStr):
            templates |= {text for text in [_template(node)] if text is not None}
        elif isinstance(node, ast.Call):
            calls += [node] if _name(node.func) in SAYING else []
        elif isinstance(node, ast.Assign):
            parts += _values_of(node, PARTS)
    constants = {
        node.target.id: _template(node.value)
        for node in module.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
    }
    return SourceTexts(frozenset(templates), constants, tuple(calls), tuple(parts))


def modules_in(*folders: str) -> list[SourceTexts]:
    """Return the texts of the modules of some folders."""
    return [texts_of(path) for folder in folders for path in (PACKAGE / folder).rglob("*.py")]


def calls_of(function: str, *folders: str) -> list[ast.Call]:
    """Return the calls of a function in some folders."""
    return [node for each in modules_in(*folders) for node in each.calls if getattr(node.func, "id", "") == function]


def fault_texts(*folders: str) -> set[str]:
    """Return what faults say in some folders: problem, accepted and hint, where these are more than values."""
    found = set()
    for module in modules_in(*folders):
        for node in module.calls:
            if (called := _name(node.func)) in FIRST_TEXT:
                named = (each.value for each in node.keywords if each.arg in PARTS)
                for each in (*node.args[FIRST_TEXT[called] :][:3], *named):
                    found.add(module.constants.get(each.id) if isinstance(each, ast.Name) else _template(each))
        found |= {_template(each) for each in module.parts}
    texts = {text for text in found if text is not None}
    return {text for text in texts if re.search(r"[A-Za-z]{2,} [A-Za-z]|[A-Z][a-z]+ ?.*\.$", text.replace("{}", ""))}


def _name(function: ast.expr) -> str:
    return str(getattr(function, "id", getattr(function, "attr", "")))


def _values_of(node: ast.Assign, names: tuple[str, ...]) -> Iterator[ast.expr]:
    """Yield what is assigned to some names, also where several are assigned at once."""
    targets, values = [each.elts if isinstance(each, ast.Tuple) else [each] for each in (node.targets[0], node.value)]
    for target, value in zip(targets, values, strict=False):
        if getattr(target, "id", "") in names:
            yield value


def _template(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


@cache
def shown_texts() -> frozenset[str]:
    """Return the English texts that are to be had in Chinese."""
    metadata = [template.metadata for template in (*TEMPLATES, *FIXED)] + [REPORT_FILE]
    faults = [Fault("/a", "x"), Fault("/b", "y"), Fault("/c", "z")]
    counts = [input_error(faults, most=most).message for most in (1, 2, 3)]
    limits = [words.limit for words in REASONS.values()]
    texts = {
        *(text for tool in TOOLS for text in (tool.title, tool.description)),
        *(re.sub("^Also .*", "Also {}", text) for tool in TOOLS for text in texts_in(tool.as_json()["inputSchema"])),
        *(text for tool in TOOLS for text in texts_in(tool.as_json()["outputSchema"])),
        *(problem.format(where=where) for problem in PROBLEMS.values() for where in ("parameter {}", "value")),
        *(offer.instructions for offer in OFFERS.values()),
        *(text for prompt in PROMPTS for text in texts_in(prompt.as_json())),
        *(argument.label for prompt in PROMPTS for argument in prompt.arguments if argument.label),
        *(text for each in metadata for text in (each.title, each.description)),
        *(entry["meaning"] for entry in error_catalogue().values()),
        *(re.sub(r"\d+", "{}", count) for count in counts),
        *(text for words in REASONS.values() for text in (words.meaning, words.locked, *words.ticket, *words.shipment)),
        *(text for limit in limits if limit for text in (limit.missing, *limit.changes.values())),
        *(text for text in texts_of(RELAXATIONS).templates if re.match(r"[a-z ]+[a-z_]* .*\{\}", text)),
        PROVED,
        *SCHEMA_TEXTS,
    }
    return frozenset(text for text in texts if text and not text.startswith("/"))


def test_every_text_that_clients_see_has_a_chinese_one() -> None:
    """SPEC T11: titles, descriptions, prompts, resources, reasons, fixes and the summary of each error."""
    assert sorted(shown_texts() - chinese_texts().keys()) == []


def test_what_single_faults_say_is_to_be_had_in_chinese() -> None:
    """SPEC T11: problem, accepted and hint of each, those of bridges and commands too."""
    folders = ("routing", "server", "jobs", "travel", "geocoding", "formats", "bridge", "cli", "addresses")
    assert sorted(fault_texts(*folders) - chinese_texts().keys()) == []


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"enum": ["local", "global"]}, "以下之一：local, global"),
        ({"type": "string", "minLength": 1, "maxLength": 64}, "1…64 个字符的 string"),
        ({"type": "string", "pattern": r"^PT\d+S$"}, r"符合 ^PT\d+S$ 的 string"),
        ({"type": "array", "maxItems": 50}, "≤ 50 项的 array"),
    ],
)
def test_what_an_argument_may_be_is_to_be_had_in_chinese(schema: Any, shown: str) -> None:
    """SPEC T7, T11: names of types are those of JSON Schema in either language."""
    assert translated(describe(schema), "zh") == shown


def test_what_a_person_is_asked_for_is_to_be_had_in_chinese() -> None:
    """SPEC T11: the titles of the fields of each question."""
    modules = (path.read_text(encoding="utf-8") for path in (PACKAGE / "server").rglob("*.py"))
    titles = set(re.findall(r'"title": "([^"{]+)"', "\n".join(modules)))
    assert "Sheet of the tickets" in titles
    assert sorted(titles - chinese_texts().keys()) == []


def test_no_chinese_text_is_left_over() -> None:
    """SPEC T11: the key of each is a text of the code, or of plans that are stored yet."""
    in_code = set().union(*(module.templates for module in modules_in(".")))
    assert chinese_texts().keys() - shown_texts() - in_code == OF_STORED_PLANS


def test_every_chinese_text_keeps_the_values_and_names_of_the_english_one() -> None:
    """SPEC T11: who reads Chinese is led to the same tools and fields."""
    holes = {key: key.count("{}") for key in chinese_texts() if "{}" in key and not key.startswith("No agent can")}
    assert {
        key: len(re.findall(r"\{\d?(?::(?:words|figure|alone))?\}", chinese_texts()[key])) for key in holes
    } == holes
    names = re.compile(r"[a-z]+_[a-z_]+|[A-Z]{2,}_[A-Z_]+|[a-z]+://")
    lost = {key for key, text in chinese_texts().items() if set(names.findall(key)) - set(names.findall(text))}
    assert sorted(lost) == []


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
def test_a_prompt_in_chinese_has_the_same_places_and_names_the_same_tools(prompt: Any) -> None:
    """SPEC R4, T11: a value of the caller goes into either text."""
    given = {argument.name: f"<{argument.name}>" for argument in prompt.arguments}
    english, chinese = prompt.text(given), prompt.text(given, "zh")
    marks = re.compile(r"<[a-z_]+>|\b[a-z]+_[a-z_]+\b")
    assert (set(marks.findall(chinese)), chinese.count("\n")) == (set(marks.findall(english)), english.count("\n"))
    assert re.search("[\u4e00-\u9fff]", chinese)


def test_the_list_of_tools_in_chinese_keeps_the_budget() -> None:
    """SPEC T9, T11: tools/list ≤ 2400 in Chinese too; one tool ≤ 800."""
    assert tokens({"tools": [tool.as_json("zh") for tool in shown_tools(Settings())]}) <= 2400
    assert max(tokens(tool.as_json("zh")) for tool in REGISTRY) <= 800


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schemas_differ_by_their_texts_alone(tool: Any) -> None:
    """SPEC T11: what is accepted is the same in both languages."""
    assert _without_texts(tool.as_json("zh")) == _without_texts(tool.as_json())


def _without_texts(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_texts(each) for each in value]
    if not isinstance(value, dict):
        return value
    is_text = {key for key in ("title", "description") if isinstance(value.get(key), str)}
    return {key: _without_texts(each) for key, each in value.items() if key not in is_text}


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en-GB, zh;q=0.5", "en"),
        ("de, fr;q=0.5", "en"),
        ("ZH", "zh"),
        ("*", "en"),
        ("", "en"),
        ("zh;q=0", "en"),
        ("zh;q=nan, en;q=9", "en"),
        ("zhx;;;q==1,,;,", "en"),
        ("," * 100_000 + "zh", "en"),
    ],
)
def test_the_language_of_a_request_is_the_one_it_weighs_most(header: str, language: str) -> None:
    """RFC 9110, 12.5.4: whatever a caller writes there; what cannot be read counts as nothing."""
    assert preferred(header, "en") == language


def test_faults_and_lines_are_in_the_language_of_their_reader() -> None:
    """SPEC T11: values stay where they were; notes of results and the lines of their texts too."""
    fault = Fault("/tickets/0/demand", "The demand is above the capacity (9) of every agent that may serve the ticket.")
    wrong = Fault("/agents", "The parameter agents has the wrong type.", "at most 5", "Remove it.")
    notes = ["Travel times follow from the given distances at 30 km/h."]
    with in_chinese():
        assert fault.as_json()["problem"] == "需求量超过可服务该工单的每辆车的容量（9）。"
        assert wrong.as_line() == "/agents: 参数 agents 的类型不对。 (accepted: 最多 5) 请删除。"
        output = SuggestFixesResult.model_construct(notes=notes)
        shown = ToolResult(output, f"1 job\n{notes[0]}\nWarning: {notes[0]}")
    chinese = "行程时间由给出的距离按 30 公里/小时得出。"
    assert (shown.structured["notes"], shown.text) == ([chinese], f"1 job\n{chinese}\n警告：{chinese}")


@pytest.mark.parametrize(
    ("line", "chinese"),
    [
        ("TIME_WINDOW 63 min late at t4", "TIME_WINDOW 迟到 63 分钟（t4）"),
        ("CAPACITY load short by 4", "CAPACITY load 缺 4"),
        (
            "a, b cannot all be served: they are 3, the agents may serve 2",
            "a, b 无法全部服务： 它们有 3 个，所有车最多服务 2 个",
        ),
        (
            "v1 gains t1, t2 and loses t3: +5 min, -1.2 km, cost +3.",
            "v1 增加 t1, t2，减少 t3： +5 分钟，-1.2 km，成本 +3。",
        ),
        ("tickets: 1 added (t7), 2 changed (t1, t2)", "tickets: 新增 1 个（t7）, 修改 2 个（t1, t2）"),
        (
            "Warning: /agents: The delivery tickets need 10 of load, all agents together carry 5. "
            "Add agents or reload_locations; otherwise some tickets stay unassigned.",
            "警告：/agents: 配送工单需要 10 的 load，所有车合计可装 5。 "
            "请增加车辆或 reload_locations；否则部分工单将不被分配。",
        ),
        ("Next: query_vrp_status wait_s=45.", "下一步：query_vrp_status wait_s=45."),
        ("t1: Workers", "t1: Workers"),
        ("x" * 3000, "x" * 3000),
    ],
)
def test_a_line_put_together_is_translated_part_by_part(line: str, chinese: str) -> None:
    """SPEC T11: places, codes, ids and figures stay, and so does a word of the caller that is one of ours."""
    with in_chinese():
        assert translated_line(line) == chinese
    assert translated_line(line) == line


def test_every_chinese_text_takes_the_values_of_the_english_one() -> None:
    """SPEC T11: also where these stand in another order."""
    for key in (key for key in chinese_texts() if not key.startswith("No agent can")):
        values = [str(1000 + at) for at in range(key.count("{}"))]
        text = "".join(part + value for part, value in zip(key.split("{}"), [*values, ""], strict=True))
        assert [value for value in values if value not in translated(text, "zh")] == [], key


@pytest.mark.parametrize(
    "line",
    [
        "Also bring the key",
        "Deliver at noon, only with two men",
        "Ring twice, by hand",
        "call first, one of two doors",
        "over by the bridge",
        "at most two persons",
        "10 Downing St, cost centre 5",
        "Plan B",
        "Mill Lane, both doors and gates",
        "no 5 min, ring twice.",
    ],
)
def test_what_a_caller_wrote_is_taken_for_no_text_of_ours(line: str) -> None:
    """SPEC T8: a name, an address or a note that begins as a text with values does."""
    with in_chinese():
        assert translated_line(line) == line


def test_texts_of_values_alone_are_known_by_their_form() -> None:
    """SPEC T8, T11: what a line may hold of a caller's words is like none of them, unless a reason stands here."""
    short = {
        key
        for key, words in chinese_texts().items()
        if "{}" in key and len(re.findall("[A-Za-z]", key)) < FEWEST_LETTERS
        if ":alone}" not in words and ":figure}" not in words
    }
    assert short == KNOWN_BY_THEIR_FORM.keys()


def test_what_fields_say_of_values_is_to_be_had_in_chinese() -> None:
    """SPEC T7, T11: problem, accepted and hint of each reader of a field."""
    calls = calls_of("field_error", "routing/scenario")
    texts = {_template(each) or "" for node in calls for each in node.args[:3]}
    words = {text for text in texts if re.search("[a-z]{3,} [a-z]", text)}
    assert len(words) >= 20
    assert sorted(words - chinese_texts().keys()) == []


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        (
            'Column "时间" is not used: its unit is not known, it has numbers (15, 20).',
            '列"时间"未使用：单位不明，内容为数字（15, 20）。',
        ),
        ("载重单位: texts (kg)", "载重单位: 文字（kg）"),
        ("the day of plan_b", "即 plan_b 的那一天"),
        (
            "Positions from addresses: 2 (offline), true within 2.5 to 25.5 km.",
            "由地址得到的坐标：2（offline），误差 2.5 至 25.5 km。",
        ),
        ('Column "Plan" is not used: it looks like texts (Plan).', '列"Plan"未使用：看起来是文字（Plan）。'),
    ],
)
def test_a_value_that_is_a_text_of_ours_is_translated_too(text: str, chinese: str) -> None:
    """SPEC T11: what a column looks like is in the language of its reader; the cells stay as they are."""
    with in_chinese():
        assert translated_line(text) == chinese


def test_what_is_noted_of_a_table_is_to_be_had_in_chinese() -> None:
    """SPEC T5, T11: every sentence that a file's reader may add to the assumptions of a day, and every doubt."""
    texts = set()
    for path in (PACKAGE / "formats").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "notices":
                texts.add(_template(node.slice))
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "_note":
                texts.add(_template(node.args[0]))
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "append":
                is_note = getattr(node.func.value, "id", getattr(node.func.value, "attr", "")) == "notices"
                texts |= {_template(node.args[0])} if is_note else set()
            elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("note", "notices"):
                held = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                texts |= {_template(each) for each in held}
            elif isinstance(node, ast.Yield) and node.value is not None and path.stem == "unexpected_rows":
                texts.add(_template(node.value))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(" {}"):
                texts.add(node.value)
    sentences = {text for text in texts if text and " " in text}
    assert len(sentences) >= 20
    assert sorted(sentences - chinese_texts().keys()) == []


def test_messages_of_progress_are_in_the_language_of_their_reader() -> None:
    """SPEC T11: the message of a progress notification, with the state as programs read it."""
    view = {"status": "SOLVING", "progress": 40, "cost": 12.5, "tickets_served": 3, "tickets_total": 4}
    view |= {"improvements": 1, "elapsed_s": 2, "queue_position": 5}
    with in_chinese():
        line = state_line(view)
    assert line == "SOLVING 40% · 成本 12.5 · 已服务 3/4 · 改进 1 次 · 2 s · 排队位置 5"
    assert state_line(view) == "SOLVING 40% · cost 12.5 · served 3/4 · 1 improvement · 2 s · queue position 5"


def test_what_answers_say_in_phrases_is_to_be_had_in_chinese() -> None:
    """SPEC T11: each template that an answer fills in."""
    calls = calls_of("phrase", "server", "jobs")
    templates = {node.args[0].value for node in calls if isinstance(node.args[0], ast.Constant)}
    assert len(templates) >= 5
    assert sorted(templates - chinese_texts().keys()) == []


def test_a_hostile_line_is_looked_up_in_a_moment() -> None:
    """SPEC A4: the parts of every pattern, over and over, in a line of the longest length that is looked up."""
    began = time.process_time()
    for key in chinese_texts():
        if "{}" in key:
            translated((key.replace("{}", "x") * MAX_LINE)[:MAX_LINE] + "!", "zh")
    assert time.process_time() - began < 2


def test_an_error_is_written_in_the_language_of_its_reader() -> None:
    """SPEC T7, T11: details that the catalogue lacks follow its summary; code and type stay."""
    english, detailed = NotFoundError().as_json("t"), InvalidParameterError("load is 3 short").as_json("t")
    with in_chinese():
        assert NotFoundError().as_json("t") == {**english, "message": "这里没有此 id 的内容。"}
        several = input_error([Fault("/a", "x"), Fault("/b", "y")]).as_json("t")["message"]
        message = f"某个参数的值不被接受。 {detailed['message']}"
        assert InvalidParameterError("load is 3 short").as_json("t") == {**detailed, "message": message}
    assert several == "共 2 处错误，errors 逐一列出。"


def test_a_value_of_the_caller_is_never_translated() -> None:
    """SPEC T8: an agent that is called as one of our texts keeps its name."""
    assert translated("extend the shift of Workers to {}", "zh") == "把 Workers 的班次延长到 {}"
    assert translated("a text of nobody", "zh") == "a text of nobody"
