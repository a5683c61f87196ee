"""What the URL of a store may look like."""

import pytest
from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster

from planner_mcp.setting_urls import store_url_fault

TLS = "rediss://store/0?ssl_ca_certs=/ca.pem&ssl_certfile=/c.pem&ssl_keyfile=/k.pem&ssl_check_hostname=no&ssl_ciphers=HIGH"


@pytest.mark.parametrize(
    "url",
    [
        *(
            "redis://store",
            "redis://store/",
            "redis://store/0/",
            "redis://store:6379/15",
            "redis://ada:a%2Fb%3Fc@[::1]:6379/0?db=3",
        ),
        *("redis://store?username=ada&password=p&health_check_interval=30&socket_keepalive=yes", TLS),
        *("rediss://:p@store:6380/0?ssl_cert_reqs=none", "unix:///run/store.sock?db=2&password=p"),
    ],
)
def test_what_every_client_takes_is_taken(url: str) -> None:
    """SPEC O1: no client of the library stumbles over what passes here."""
    assert store_url_fault(url) == ""
    Redis.from_url(url).connection_pool.make_connection()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    "url", ["redis://store?health_check_interval=30&socket_keepalive=yes&username=a&password=p", TLS]
)
def test_a_cluster_takes_the_same(url: str) -> None:
    """SPEC O1: its client takes other names than that of one server."""
    assert store_url_fault(url) == ""
    RedisCluster.from_url(url)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "redis://:s3cret@store:6379?ssl=true",
            "redis://:s3cret@store/0?db=x",
            "redis://:s3cret@store/x",
            "store:6379",
        ),
        *("redis://ada:1234?s3cret=x@store:6379/0", "redis://:s3cret@store?db=", "redis://:s3cret@store?x", "unix://"),
        *("redis://store?ssl_cert_reqs=none", "rediss://store?ssl_cert_reqs=never", "unix:///s?socket_keepalive=1"),
        *("redis://:1#s3cret@store", "redis://store?socket_timeout=1", "http://store", ""),
    ],
)
def test_what_a_client_would_stumble_over_is_refused(url: str) -> None:
    """SPEC T8, O1: in a sentence that says what may stand there and how TLS is asked for, and repeats nothing."""
    fault = store_url_fault(url)
    assert "rediss://" in fault and "s3cret" not in fault
