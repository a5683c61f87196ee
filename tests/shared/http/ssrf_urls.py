"""URLs by which a caller could try to reach what is none of its business, and some that are in order."""

_HOSTS = """
127.0.0.1 127.1 127.0.1 127.255.255.254 127.0.0.1. 0.0.0.0 0 0x0 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255
100.100.100.200 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1
192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
168.63.129.16 2130706433 017700000001 0x7f000001 0x7f.0.0.1 0177.0.0.1 127.0.0.01 00127.0.0.1 127.0.0.1e 0x7f.1
1.2.3 1.2.3.4.5 256.1.1.1 8.8.8.08 0x08080808 134744072 example.0x7f example.123 example.com.1
[::] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:8.8.8.8] [::127.0.0.1] [::8.8.8.8]
[64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::a00:1] [100::1] [2001::1] [2001:0:4136:e378:8000:63bf:3fff:fdd2]
[2001:2::1] [2001:10::1] [2001:20::1] [2001:db8::1] [2002:7f00:1::] [2002:a9fe:a9fe::] [2620:4f:8000::1] [3fff::1]
[5f00::1] [fc00::1] [fd00:ec2::254] [fe80::1] [fe80::1%25eth0] [fe80::1%eth0] [fec0::1] [ff02::1] [::ffff:0:127.0.0.1]
[v1.x] [127.0.0.1] [example.com] [::1 ::1] ::1 localhost localhost.localdomain.localhost a.localhost printer
metadata metadata.google.internal kubernetes.default.svc.cluster.local vault.corp nas.lan router.home.arpa x.onion
host.docker.internal intranet x.intranet
127.0.0.1%2f.example.com 127%2e0%2e0%2e1 ①②⑦.⓪.⓪.① １２７.0.0.1 127。0。0。1 exa\u00admple.com bücher.example
example..com .example.com example.com.. example.com. -a.example.com a-.example.com *.example.com a,b.example.com
"""
_WHOLE = [
    "",
    "https://",
    "https:///x",
    "https:example.com",
    "//example.com/",
    "example.com",
    "http://example.com/",
    "HTTP://example.com/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://example.com/",
    "javascript:alert(1)",
    "https://example.com:80/",
    "https://example.com:8443/",
    "https://example.com:22/",
    "https://example.com:0/",
    "https://example.com:65979/",
    "https://example.com:443443/",
    "https://example.com:/",
    "https://example.com:+443/",
    "https://example.com:４４３/",
    "https://user@example.com/",
    "https://user:word@example.com/",
    "https://example.com@127.0.0.1/",
    "https://127.0.0.1@example.com/",
    "https://example.com#@127.0.0.1/",
    "https://example.com/#fragment",
    "https://example.com\\@127.0.0.1/",
    "https:\\\\example.com\\",
    "https://example.com/a b",
    " https://example.com/",
    "https://example.com/ ",
    "https://exam\tple.com/",
    "https://example.com/\r\nhost: x",
    "https://example.com/\x00",
    "https://example.com/\x7f",
    "https://example.com/ü",
    "https://example.com/" + "x" * 2048,
    "https://" + "a" * 64 + ".example.com/",
    "https://" + "a." * 127 + "example/",
]
FORBIDDEN_URLS = [f"https://{host}/hook" for host in _HOSTS.split()] + _WHOLE
PUBLIC_URLS = [
    ("https://example.com", "example.com", 443, "/"),
    ("https://example.com/", "example.com", 443, "/"),
    ("HTTPS://EXAMPLE.com/Path?q=1", "example.com", 443, "/Path?q=1"),
    ("https://example.com?q=1", "example.com", 443, "/?q=1"),
    ("https://example.com:443/x", "example.com", 443, "/x"),
    ("https://a-b_c.example.co.uk/x/@y", "a-b_c.example.co.uk", 443, "/x/@y"),
    ("https://xn--bcher-kva.example/", "xn--bcher-kva.example", 443, "/"),
    ("https://127.0.0.1.example.com/", "127.0.0.1.example.com", 443, "/"),
    ("https://8.8.8.8/x", "8.8.8.8", 443, "/x"),
    ("https://[2606:4700::1111]/x", "2606:4700::1111", 443, "/x"),
]

SPECIAL = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
    "224.0.0.0/4", "240.0.0.0/4", "::/128", "::1/128", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64",
    "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10",
    "ff00::/8",
)  # fmt: skip
"""Networks of the registries of special-purpose addresses: nothing in them is public."""
