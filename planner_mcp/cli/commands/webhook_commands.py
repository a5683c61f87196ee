"""`planner-mcp webhooks`: deliveries, endpoints and signing secrets from a shell (SPEC W3, W5).

Owns the wording of these commands. They act for one principal, the single user of a server without
authorization unless `--principal` names another.
"""

import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer

from planner_mcp.cli.store_queries import DataDir, RedisUrl, run_store_query
from planner_mcp.jobs.principals import LOCAL
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.webhooks.webhook_store import RedisWebhookStore
from planner_mcp.jobs.webhooks.address_guard import check_callback_url
from planner_mcp.jobs.webhooks.delivery_records import Delivery, DeliveryState, SigningSecret
from planner_mcp.server.tools.arguments.lookup_errors import AcceptedId, find_all, naming_argument
from planner_mcp.settings import Settings

app = typer.Typer(name="webhooks", help="List webhook deliveries, send them again, manage the signing secret.")

R = TypeVar("R")
KNOWN: Final[AcceptedId] = ("the id of a delivery", "planner-mcp webhooks list shows them.")
Owner = Annotated[str, typer.Option("--principal", help="Owner of the webhooks, as `keys list` shows it.")]


@app.command("list")
def list_deliveries(
    state: Annotated[DeliveryState | None, typer.Option(help="Only deliveries in this state; dead: given up.")] = None,
    count: Annotated[int, typer.Option(min=1, max=10_000, help="Largest number of lines.")] = 50,
    principal: Owner = LOCAL.id,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """List deliveries, newest first."""
    found, total = _run_query(
        lambda hooks: hooks.deliveries(principal, state, offset=0, count=count), redis_url, data_dir
    )
    for delivery in found:
        typer.echo(_line(delivery))
    if total > len(found):
        typer.echo(f"… and {total - len(found)} more")


@app.command()
def show(delivery_id: str, principal: Owner = LOCAL.id, redis_url: RedisUrl = None, data_dir: DataDir = None) -> None:
    """Show one delivery with its attempts and its body."""
    delivery = _run_query(lambda hooks: _known(hooks, principal, delivery_id, "/delivery_id"), redis_url, data_dir)
    typer.echo(_line(delivery))
    typer.echo(delivery.url)
    for attempt in delivery.attempts:
        typer.echo(f"  {_at(attempt.at)}  {attempt.status or '-'}  {attempt.took_ms} ms  {attempt.error or 'ok'}")
    typer.echo(delivery.body)


@app.command()
def endpoints(principal: Owner = LOCAL.id, redis_url: RedisUrl = None, data_dir: DataDir = None) -> None:
    """List endpoints with their state: new, working, failing, resting or disabled."""
    found, total = _run_query(lambda hooks: hooks.endpoints(principal, offset=0, count=1000), redis_url, data_dir)
    for one in found:
        since = f"failing since {_at(one.failing_since)}" if one.failing_since else ""
        parts = [one.state, one.url, f"pending {one.pending}", f"failures {one.failures}", since]
        typer.echo("  ".join(part for part in parts if part))
    if total > len(found):
        typer.echo(f"… and {total - len(found)} more")


@app.command()
def replay(
    delivery_ids: Annotated[list[str] | None, typer.Argument(help="Deliveries to send again.")] = None,
    dead: Annotated[bool, typer.Option(help="All deliveries that were given up.")] = False,
    principal: Owner = LOCAL.id,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Send ended deliveries again, with the same id and body."""
    if not delivery_ids and not dead:
        raise typer.BadParameter("give the ids of deliveries, as `webhooks list` shows them, or --dead")

    async def replay_all(hooks: RedisWebhookStore) -> list[Delivery]:
        names = list(delivery_ids or ())
        await find_all(
            [partial(_known, hooks, principal, name, f"/delivery_ids/{at}") for at, name in enumerate(names)]
        )
        if dead:
            found, _total = await hooks.deliveries(principal, DeliveryState.DEAD, offset=0, count=100_000)
            names += [delivery.id for delivery in found]
        return [await hooks.replay(principal, name) for name in names]

    for delivery in _run_query(replay_all, redis_url, data_dir):
        typer.echo(_line(delivery))


async def _known(hooks: RedisWebhookStore, principal: str, name: str, path: str) -> Delivery:
    with naming_argument(path, KNOWN):
        return await hooks.delivery(principal, name)


@app.command()
def test(url: str, principal: Owner = LOCAL.id, redis_url: RedisUrl = None, data_dir: DataDir = None) -> None:
    """Queue a test delivery; a running worker sends it."""

    async def send(store: RedisStore, settings: Settings) -> Delivery:
        check_callback_url(url, settings, path="/url")
        return await RedisWebhookStore(store.script_client, settings).send_test(principal, url)

    typer.echo(_line(run_store_query(send, redis_url, data_dir)))


@app.command()
def secret(principal: Owner = LOCAL.id, redis_url: RedisUrl = None, data_dir: DataDir = None) -> None:
    """Print the signing secret, once."""
    _print_note(_run_query(lambda hooks: hooks.reveal(principal), redis_url, data_dir))


@app.command()
def rotate(
    principal: Owner = LOCAL.id,
    force: Annotated[
        bool, typer.Option(help="Also if the key that encrypted the old secret is lost or changed.")
    ] = False,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Print a new signing secret; the old one stays valid beside it for 24 hours."""
    _print_note(_run_query(lambda hooks: hooks.rotate(principal, is_forced=force), redis_url, data_dir))


def _run_query(
    question: Callable[[RedisWebhookStore], Awaitable[R]], redis_url: str | None, data_dir: Path | None
) -> R:
    """Return the answer of the webhooks in the store that the options and the environment name."""
    return run_store_query(
        lambda store, settings: question(RedisWebhookStore(store.script_client, settings)), redis_url, data_dir
    )


def _print_note(note: SigningSecret) -> None:
    if note.secret is None:
        typer.echo(f"made {_at(note.created_at)} and shown before; `rotate` makes a new one", err=True)
        sys.exit(1)
    typer.echo(note.secret)


def _line(delivery: Delivery) -> str:
    parts = [_at(delivery.created_at), delivery.id, delivery.state, delivery.kind, f"attempts {delivery.attempt_count}"]
    return "  ".join([*parts, *([delivery.error] if delivery.error else [])])


def _at(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%SZ")
