"""Files for imports, uploaded by HTTP and named by a call (SPEC T5, X3)."""

from collections.abc import AsyncIterator

import httpx2 as httpx
import pytest

from planner_mcp.jobs.principals import LOCAL
from planner_mcp.jobs.records.import_records import UploadedFile
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.shared.http.app_clients import client_of

pytestmark = pytest.mark.anyio


@pytest.fixture
async def http(store: RedisStore, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A server with one user and small limits."""
    small = settings.model_copy(update={"max_file_bytes": 2048})
    async with client_of(small) as http:
        yield http


async def test_any_bytes_are_kept_under_their_name_for_a_while(http: httpx.AsyncClient, store: RedisStore) -> None:
    """SPEC T5, J9: no encoding is asked of them, a later upload replaces an earlier one, and they expire."""
    for data in (b"PK\x03\x04\0\xff\xfe{{{{", "订单号\n".encode("gb18030")):
        answer = await http.put("/files/orders.csv", content=data)
        assert (answer.status_code, answer.json()) == (201, {"file": "orders.csv", "bytes": len(data)})
        assert await store.file(LOCAL.id, "orders.csv") == UploadedFile(data, is_confidential=True)
    (key,) = [key async for key in store.redis.scan_iter("*:files:*")]
    assert 0 < await store.redis.ttl(key) <= 3600


async def test_a_name_is_one_however_its_accents_are_written(http: httpx.AsyncClient, store: RedisStore) -> None:
    """SPEC T5: macOS takes `ä` apart (NFD), who names the file in a call does not."""
    assert (await http.put("/files/Auftra\u0308ge.csv", content=b"x")).status_code == 201
    assert (await store.file(LOCAL.id, "Auftr\u00e4ge.csv")).data == b"x"
    assert (await store.file(LOCAL.id, "Auftra\u0308ge.csv")).data == b"x"


async def test_uploads_are_bounded_in_size_and_number(http: httpx.AsyncClient) -> None:
    """SPEC X3, A4: one principal cannot fill the store."""
    assert (await http.put("/files/a", content=b"x" * 2049)).status_code == 413
    answers = [(await http.put(f"/files/{number}", content=b"x")).status_code for number in range(11)]
    assert (answers[:10], answers[10]) == ([201] * 10, 429)
    assert (await http.put("/files/3", content=b"y")).status_code == 201
    assert (await http.put("/files/" + "n" * 101, content=b"x")).status_code == 400
    assert (await http.get("/files/3")).status_code == 405
