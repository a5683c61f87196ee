"""TLS to a pinned address is verified by name (SPEC W4)."""

import ssl
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from planner_mcp.errors import EndpointUnreachableError
from planner_mcp.jobs.webhooks.webhook_client import WebhookClient
from planner_mcp.settings import Settings
from tests.shared.http.webhook_receiver import Receiver, receiving

pytestmark = pytest.mark.anyio
NAME = "hooks.example.com"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for NAME, with its key, that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    text = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    path = tmp_path / "both.pem"
    path.write_bytes(text + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
async def secure(certificate: Path) -> AsyncIterator[Receiver]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    async with receiving(context) as receiver:
        yield receiver


async def loopback(_host: str) -> Sequence[str]:
    return ["127.0.0.1"]


def webhook_client(secure: Receiver, trusted: Path | None) -> WebhookClient:
    settings = Settings(webhook_allow_networks=["127.0.0.0/8"], webhook_allow_ports=[secure.port], webhook_timeout_s=3)
    return WebhookClient(settings, lookup=loopback, tls=ssl.create_default_context(cafile=trusted))


async def test_the_name_is_verified_and_sent(secure: Receiver, certificate: Path) -> None:
    """SPEC W4: connected by address; certificate, SNI and Host by name."""
    answer = await webhook_client(secure, certificate).post(f"https://{NAME}:{secure.port}/hook", {}, b"{}")
    assert answer.status == 200
    assert secure.received[0].headers["host"] == f"{NAME}:{secure.port}"


async def test_another_name_is_refused(secure: Receiver, certificate: Path) -> None:
    """SPEC W4: the pinned address does not loosen TLS."""
    with pytest.raises(EndpointUnreachableError):
        await webhook_client(secure, certificate).post(f"https://other.example.com:{secure.port}/hook", {}, b"{}")
    assert secure.received == []


async def test_an_unknown_authority_is_refused(secure: Receiver) -> None:
    """SPEC W4: the system's trust, no other."""
    with pytest.raises(EndpointUnreachableError):
        await webhook_client(secure, None).post(f"https://{NAME}:{secure.port}/hook", {}, b"{}")
    assert secure.received == []
