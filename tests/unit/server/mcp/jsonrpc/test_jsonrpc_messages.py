"""Reading a POST body: messages, or one kind of refusal."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.server.mcp.jsonrpc.jsonrpc_messages import MalformedError, MessageKind, parse_line
from tests.shared.property_tests.example_counts import examples

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
ENVELOPES = st.fixed_dictionaries(
    {}, optional={"jsonrpc": st.just("2.0"), "id": JSON_VALUES, "method": JSON_VALUES, "params": JSON_VALUES}
)


@examples(60)
@given(st.binary() | JSON_VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_body_is_messages_or_malformed(body: bytes) -> None:
    """SPEC T7: nothing a stranger sends raises anything else."""
    try:
        messages, _is_batch = parse_line(body)
    except MalformedError as error:
        assert error.rpc_code in (-32700, -32600)
    else:
        assert messages


@examples(60)
@given(ENVELOPES.map(lambda value: json.dumps(value).encode()))
def test_any_envelope_is_a_message_or_malformed(body: bytes) -> None:
    """JSON-RPC 2.0 §4: what is taken has the members its kind needs."""
    try:
        ((message,), is_batch) = parse_line(body)
    except MalformedError:
        return
    assert not is_batch
    assert message.kind in (MessageKind.REQUEST, MessageKind.NOTIFICATION)
    assert isinstance(message.method, str)
    assert isinstance(message.body.get("params", {}), dict)
    assert message.claims_stateless_era in (True, False)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"jsonrpc":"2.0","id":1,"method":"ping"}', MessageKind.REQUEST),
        ('{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}', MessageKind.REQUEST),
        ('{"jsonrpc":"2.0","method":"notifications/initialized"}', MessageKind.NOTIFICATION),
        ('{"jsonrpc":"2.0","id":1,"result":{}}', MessageKind.RESPONSE),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}', MessageKind.RESPONSE),
    ],
)
def test_message_is_known_by_its_members(text: str, kind: MessageKind) -> None:
    """JSON-RPC 2.0 §4, §5."""
    messages, _is_batch = parse_line(text.encode())
    assert [message.kind for message in messages] == [kind]


def test_batch_is_bounded() -> None:
    """Our choice: a batch is no way around the limits of a request."""
    one = {"jsonrpc": "2.0", "method": "x"}
    assert parse_line(json.dumps([one] * 32).encode())[1]
    with pytest.raises(MalformedError):
        parse_line(json.dumps([one] * 33).encode())


def test_refused_request_is_named_by_its_id() -> None:
    """JSON-RPC 2.0 §5: the id of the request where it could be read, null where not."""
    with pytest.raises(MalformedError) as caught:
        parse_line(b'{"jsonrpc":"2.0","id":"a7","method":5}')
    assert caught.value.request_id == "a7"
