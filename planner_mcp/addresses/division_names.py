"""How people shorten the names of Chinese divisions: 浙江 for 浙江省, 阿坝州 for 阿坝藏族羌族自治州.

Owns the kinds of divisions and the peoples that stand in their names. It knows no data.
"""

from typing import Final

_KINDS: Final = """
特别行政区 自治区 自治州 自治县 自治旗 地区 林区 矿区 新区 街道 省 市 区 县
盟 州 旗 镇 乡 苏木
"""
KINDS: Final = tuple(_KINDS.split())
"""What divisions are, in the order in which they are looked for at the end of a name."""
_PEOPLES: Final = """
各族 蒙古族 蒙古 回族 藏族 维吾尔 苗族 彝族 壮族 布依族 朝鲜族 满族 侗族
瑶族 白族 土家族 哈尼族 哈萨克族 哈萨克 傣族 黎族 傈僳族 佤族 畲族 拉祜族
水族 东乡族 纳西族 景颇族 柯尔克孜 土族 达斡尔族 仫佬族 羌族 布朗族 撒拉族
毛南族 仡佬族 锡伯 阿昌族 普米族 塔吉克 怒族 鄂温克族 德昂族 保安族 裕固族
独龙族
"""
PEOPLES: Final = tuple(_PEOPLES.split())
"""Peoples named in divisions with self-government."""
SHORT_KINDS: Final = {"自治州": "州", "自治县": "县", "自治旗": "旗", "区": "区"}
"""The kind that remains in a short name: 石柱县 for 石柱土家族自治县, 管城区 for 管城回族区."""
EXTRA_SHORT_NAMES: Final = {"内蒙古自治区": ("内蒙",), "香港特别行政区": ("香港",), "澳门特别行政区": ("澳门",)}


def short_name(name: str) -> str:
    """Return a division's name without its kind and its peoples; unchanged where one character would be left."""
    stripped = next((name[: -len(kind)] for kind in KINDS if name.endswith(kind) and len(name) - len(kind) >= 2), name)
    while people := next((each for each in PEOPLES if stripped.endswith(each) and len(stripped) - len(each) >= 2), ""):
        stripped = stripped[: -len(people)]
    return stripped


def short_names(name: str) -> tuple[str, ...]:
    """Return every short form of a name."""
    plain = short_name(name)
    kind = next((each for each in KINDS if name.endswith(each)), "")
    has_people = kind and plain + kind != name
    forms = [plain, *EXTRA_SHORT_NAMES.get(name, ())]
    if has_people and kind in SHORT_KINDS:
        forms.append(plain + SHORT_KINDS[kind])
    return tuple(dict.fromkeys(form for form in forms if form != name and len(form) >= 2))
