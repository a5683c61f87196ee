"""What a command says of a setting that it cannot read."""

import os

import pytest
import typer
from typer.testing import CliRunner

from planner_mcp.cli.command_line import app
from planner_mcp.cli.environment_settings import read_settings

COMMANDS = (
    ("manifest",),
    ("keys", "list"),
    ("webhooks", "list"),
    ("import", "orders.csv", "--date", "2025-07-15"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PLANNER_ROUTERS", "osrm:s3cret"),
        ("PLANNER_AUTH_ISSUERS", '["s3cret"]'),
        ("PLANNER_REDIS_URL", "http://:s3cret@store:6379"),
        ("PLANNER_REDIS_URL", "redis://:s3cret/x@store:6379"),
        ("PLANNER_REDIS_URL", "redis://s3cret:1234?x@store:6379/0"),
        ("PLANNER_REDIS_URL", "redis://:s3cret@store:6379?ssl=true"),
        ("PLANNER_REDIS_URL", "redis://:s3cret@store:6379/0?db=x"),
        ("PLANNER_ALLOWED_ORIGINS", "https://s3cret.example/"),
        ("PLANNER_WORKERS", "x"),
        ("PLANNER_TOOLSETS", "core,s3cret"),
        ("PLANNER_WEBHOOK_ALLOW_NETWORKS", "s3cret"),
        ("PLANNER_WEBHOOK_ALLOW_PORTS", "[s3cret"),
    ],
)
def test_an_unreadable_setting_is_reported_in_a_sentence_without_its_value(
    command: tuple[str, ...], variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T8, A3: every command names the setting; no traceback, and no password of a URL in a terminal's log."""
    monkeypatch.setenv(variable, value)
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, command)
    assert (result.exit_code, isinstance(result.exception, SystemExit)) == (2, True)
    assert variable in result.output
    assert "s3cret" not in result.output and "Traceback" not in result.output


def test_a_refusal_names_a_setting_as_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O3: the variable, the place within it, the option; what two settings say together stands as it is."""
    monkeypatch.setenv("PLANNER_MAX_TICKETS", "0")
    monkeypatch.setenv("PLANNER_WEBHOOK_ALLOW_PORTS", "443,0")
    with pytest.raises(typer.BadParameter) as refused:
        read_settings(redis_url="redis://store?ssl=true", data_dir=None)
    faults = refused.value.message.split("; ")
    assert faults[0].startswith("--redis-url: behind ? of a redis:// URL may stand")
    assert any(fault.startswith("PLANNER_MAX_TICKETS: Input should be") for fault in faults)
    assert any(fault.startswith("PLANNER_WEBHOOK_ALLOW_PORTS at 1: Input should be") for fault in faults)
    for name in [name for name in os.environ if name.startswith("PLANNER_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PLANNER_AUTH_ISSUERS", '{"https://login.example": null}')
    with pytest.raises(typer.BadParameter) as refused:
        read_settings()
    assert refused.value.message.startswith("tokens need PLANNER_PUBLIC_URL")


def test_a_short_token_for_autoscalers_is_refused_in_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O3, T8: not as a list of items, and without the token."""
    monkeypatch.setenv("PLANNER_SCALE_TOKEN", "s3cret")
    with pytest.raises(typer.BadParameter) as refused:
        read_settings()
    assert refused.value.message == "PLANNER_SCALE_TOKEN: it has fewer than 16 characters and can be guessed"


def test_an_ipv6_address_with_a_port_needs_no_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O7, T7: `$(POD_IP):8080` of the chart on an IPv6 cluster; without a port the error shows how to write it."""
    for text in ("fd00::1:8080", "[fd00::1]:8080"):
        monkeypatch.setenv("PLANNER_ALLOWED_HOSTS", f"planner:8080,{text}")
        assert read_settings().allowed_hosts == ["planner:8080", "[fd00::1]:8080"]
    monkeypatch.setenv("PLANNER_ALLOWED_HOSTS", "planner:8080,fd00::1")
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["manifest"])
    assert (result.exit_code, "[fd00::1]:8080" in result.output) == (2, True)
