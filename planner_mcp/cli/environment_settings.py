"""Settings from the environment, overridden by the command line; errors are reported in one line.

Owns the wording. No value is repeated (only names within a map are): the URL of a store may hold its password.
"""

import difflib
import os
import re
from typing import Any, Final
from urllib.parse import urlsplit

import typer
from pydantic import ValidationError

from planner_mcp.settings import MIN_SECRET_LENGTH, PREFIX, Settings
from planner_mcp.translation import use_language

API_KEY: Final = "PLANNER_API_KEY"
"""No setting: the credential of commands that ask a server. On the command line others could read it."""
_LINK: Final = re.compile(r".*_(SERVICE_(HOST|PORT(_.+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)", re.DOTALL)
_LINKED: Final = ("tcp://", "udp://", "sctp://")
"""How Kubernetes names, and begins `…_PORT` of, what it writes into pods for Services such as `planner-redis`."""


def read_settings(**given: Any) -> Settings:
    """Return the settings; an option that is not None overrides the environment. Refusals are in their language then.

    Raises:
        typer.BadParameter: A setting cannot be read.
    """
    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        wrong = [_setting_fault(each["loc"], each["msg"], given) for each in error.errors(include_input=False)]
        raise typer.BadParameter("; ".join(wrong)) from error
    use_language(settings.lang)
    return settings


def _setting_fault(place: tuple[int | str, ...], fault: str, given: dict[str, Any]) -> str:
    """Return a fault behind the name by which its setting was given; what concerns several names them itself."""
    fault = fault.removeprefix("Value error, ")
    if not place:
        return fault
    name, *within = map(str, place)
    is_option = given.get(name) is not None
    shown = f"--{name.replace('_', '-')}" if is_option else f"{PREFIX}{name.upper()}"
    return f"{shown}{' at ' if within else ''}{'.'.join(within)}: {fault}"


def unknown_variables() -> dict[str, str]:
    """Return `PLANNER_` variables that are no settings, each with the setting it resembles, if any."""
    known = [API_KEY, *(f"{PREFIX}{name.upper()}" for name in Settings.model_fields)]
    names = sorted(name for name, value in os.environ.items() if name.startswith(PREFIX) and not _is_link(name, value))
    return {name: _nearest(name, known) for name in names if name not in known}


def unknown_variable_line(name: str, near: str) -> str:
    """Return what is said of a variable that is no setting."""
    return f"{name} is no setting" + (f"; {near} is" if near else "")


def doubtful_settings(settings: Settings) -> list[str]:
    """Return what is said of settings that are accepted, since days and jobs are kept under them, and do harm."""
    key = settings.secret_key
    found = {
        f"PLANNER_SECRET_KEY has fewer than {MIN_SECRET_LENGTH} characters and can be guessed": (
            key is not None and len(key) < MIN_SECRET_LENGTH
        ),
        "PLANNER_POOLS is for Redis Cluster: in the bundled store pools only divide the limits": (
            settings.pools > 1 and settings.redis_url is None
        ),
    }
    return [sentence for sentence, is_so in found.items() if is_so]


def store_address(settings: Settings) -> str:
    """Return the address of the store without user name, password and query."""
    if not settings.redis_url:
        return f"bundled server in {settings.data_dir}"
    nodes = [urlsplit(url) for url in settings.redis_url.split(",")]
    return ",".join(f"{node.scheme}://{node.netloc.rpartition('@')[2]}{node.path}" for node in nodes)


def _is_link(name: str, value: str) -> bool:
    return bool(_LINK.fullmatch(name)) or (name.endswith("_PORT") and value.startswith(_LINKED))


def _nearest(name: str, known: list[str]) -> str:
    tails, tail = [each.removeprefix(PREFIX) for each in known], name.removeprefix(PREFIX)
    found = [each for each in tails if each.endswith(f"_{tail}")][:1]  # its subject is left out
    found = found or difflib.get_close_matches(tail, tails, n=1, cutoff=0.7)
    return f"{PREFIX}{found[0]}" if found else ""
