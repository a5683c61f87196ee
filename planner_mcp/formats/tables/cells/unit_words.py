"""Units of amounts (weight, volume, pallets, boxes, parcels, pieces) and of time, by their words (SPEC T5).

Owns the words, and how many of the usual unit each is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class AmountUnit:
    """A unit of some dimension."""

    dimension: str
    factor: float
    """How many of the dimension's usual unit it is."""


_USUAL_UNITS: Final[Mapping[str, str]] = {
    "weight_kg": "kg kgs kilo kilos kilogram kilograms kilogramm 公斤 千克",
    "volume_m3": "m3 cbm cubm 方 立方 立方米",
    "pallets": "pall pallar palete paletes pallet pallets plt palette paletten palettes pal pale pales palets palet "
    "palety paleta bancale bancali pedana pedane 托 托盘 板 卡板",
    "boxes": "caixa caixas krabice koli box boxes carton cartons ctn ctns karton kartons kiste kisten crate crates "
    "caisse caisses caja cajas 箱 纸箱",
    "parcels": "parcel parcels package packages pkg pkgs packstuck packstucke paket pakete colli kolli colis paquete "
    "paquetes pakket pakketten pacco pacchi paczka paczki bulto bultos 包裹 包",
    "pieces": "ks adet 個 szt sztuk stuks pz pezzi pc pcs piece pieces stk stuck unit units item items piezas unidades "
    "unidad uds 件 个 台",
}
"""By dimension, words for the unit that amounts are counted in."""
_OTHER_UNITS: Final = {
    ("weight_kg", 1000): "t to ton tons tonne tonnes tonnen tonelada toneladas 吨",
    ("weight_kg", 0.001): "g gram grams gramm 克",
    ("weight_kg", 0.5): "斤",
    ("weight_kg", 0.45359237): "lb lbs pound pounds",
    ("volume_m3", 0.001): "l ltr liter litre liters litres litros litro 升",
}
"""The same of other units, by dimension and how many of the usual unit one is."""
_UNITS: Final = {(dimension, 1.0): words for dimension, words in _USUAL_UNITS.items()} | _OTHER_UNITS
_BY_WORD: Final = {
    word: AmountUnit(dimension, factor) for (dimension, factor), words in _UNITS.items() for word in words.split()
}
_TIME_UNITS: Final = {
    3600.0: "hod hodin timmar h hr hrs hour hours std stunde stunden heure heures hora horas uur ora ore godz 时 小时 "
    "个小时 钟头 个钟头",
    60.0: "dk dakika minuter m mn min mins minute minutes minuten minuto minutos minuti minuut minut ' ’ ′ 分 分钟 "
    "分鐘",
    1.0: 's sec secs seg second seconds sek sekunden seconde secondes segundos " ″ 秒 秒钟',
}
SECONDS_OF_UNIT: Final = {word: seconds for seconds, words in _TIME_UNITS.items() for word in words.split()}
_DIMENSIONS: Final[Mapping[str, str]] = {
    "weight_kg": "hmotnost vaha agirlik vikt 重量 waga laadvermogen portata ładownosc weight wt payload brutto netto "
    "nutzlast zuladung poids peso tonnage *gewicht 吨位 毛重 净重 货重 载重 核载",
    "volume_m3": "objem hacim volym 体積 容積 cube volume cubic volumes *volumen 体积 容积 方量 方数",
    "pallets": "skids skid rolli rollis rollcontainer rollwagen *stellplatz *palett pallets pallet plt 托盘 托数 板数 "
    "卡板",
    "boxes": "cases gebinde *karton *kiste 箱数 箱量 整箱",
    "parcels": "*paket *packstuck 包裹 包数",
    "pieces": "*stuckzahl 件数 个数",
}


def words_of(line: str) -> frozenset[str]:
    """Return the words of a line."""
    return frozenset(line.split())


def unit_named(text: str) -> AmountUnit | None:
    """Return the unit that a word is, such as `kg`; of several words the first that is one. None for no unit."""
    words = text.split()
    return next((_BY_WORD[word] for word in words if word in _BY_WORD), None)


def dimension_named(words: str) -> str:
    """Return the dimension that a header without accents and case speaks of; empty for none, or for any."""
    tokens, joined = words.split(), words.replace(" ", "")
    for dimension, line in _DIMENSIONS.items():
        for word in line.split():
            part = word.lstrip("*")
            if part in tokens or ((word.startswith("*") or not part.isascii()) and part in joined):
                return dimension
    for token in tokens:
        unit = _BY_WORD.get(token)
        if unit is not None and len(token) > 1:
            return unit.dimension
    return ""
