"""Fills the HTML templates of this package with Jinja2; every value is escaped unless it is `Markup`.

Owns the environment and its filters. What a page says is in `templates/`, how it looks in `templates/report.css`.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from planner_mcp.render.label_text import isolated, length, needs_break
from planner_mcp.text import clock

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


@cache
def _environment() -> "Environment":
    """Return the environment. Jinja2 is imported with the first page, not with the server."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("planner_mcp.render", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )

    def bdi(text: str | None) -> Markup:
        """Isolate a caller's text as an element, so that its writing direction ends with it; nothing for no text."""
        kind = Markup(' class="long"') if text and needs_break(text) else ""
        return Markup("<bdi{}>{}</bdi>").format(kind, text) if text else Markup()

    environment.filters |= {"bdi": bdi, "clock": clock, "isolated": isolated, "length": length}
    return environment


def svg_markup(svg: str) -> "Markup":
    """Return SVG that this package drew, to be set into a page as it is; its texts are escaped already."""
    from markupsafe import Markup

    return Markup(svg)  # noqa: S704 — drawn by `svg_drawing.py`, which escapes every text


def render(template: str, **values: Any) -> str:
    """Return a template of `templates/` filled with values.

    Args:
        values: What it shows. Text is escaped; SVG of ours is passed as `Markup`.
    """
    return _environment().get_template(template).render(**values)
