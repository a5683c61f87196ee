r"""The key grammar: every key of the job engine, what it holds and how long it lives.

`{pN}` is the hash tag of shard N: all keys of a shard lie in one slot, so each step is atomic on Redis Cluster too.
Steps reach every key from the tag alone (lua/_common.lua builds the same names): which principal is next, and so which
backlog, is known only inside the step. `<p>` is a principal, free of colons. `live` = max(job TTL, 7 days), counted
from when the job was last queued or ended; until it ends the reaper renews it daily.

```text
key                      kind    holds                                             life
{pN}:scn:<scenario>      hash    principal, body, created_ms, input_hash, …        scenario TTL from last use; live
{pN}:scns:<p>            zset    the SCENARIOS_LISTED newest of a principal, by age  as the last of them, or twice that
{pN}:scnx:<p>            zset    "<scenario> <bytes>" by when its life ends at the earliest  the same
{pN}:scnb:<p>            string  bytes of those together                           the same
{pN}:mat:<matrix>        hash    principal, an uploaded matrix in blocks            scenario TTL from last use
{pN}:matp:<matrix>:<…>   hash    blocks of one that is on its way                  PARTS_S
{pN}:mats:<p>            zset    matrices a principal uploaded, by age             as the last of them, or twice that
{pN}:roads:<p>           zset    tables of road engines, the newest                 as the last of them, or twice that
{pN}:job:<job>           hash    one job (record_codec.py)                          live; job TTL from its end
{pN}:ev:<job>            stream  its events, the last EVENTS_KEPT or so            as its job
{pN}:plan:<plan>         string  its best plan, JSON                               as its job
{pN}:team:<job>          hash    the best plan of the seats of a team, and its cost  live; gone at the end
{pN}:idem:<p>:<digest>   string  same call → job                                   as its job; gone if that failed
{pN}:idem:<p>:key:<…>    string  idempotency_key → "<digest> <job>"                idempotency TTL
{pN}:bound:<p>:key:<…>   string  the digest, in the key's home shard (shards > 1)    idempotency TTL
{pN}:calls:<p>:key:<…>   zset    jobs of calls with it by when they are over       idempotency TTL
{pN}:jobs:<p>[:<state>]  zset    jobs of a principal by age (all, or in a state)   live to twice that
{pN}:jobs:<p|group>:proposed  zset  plans that wait for review, of an owner or a group         live to twice that
{pN}:ended:<p>           zset    finished jobs by when they expire, for clearing   live to twice that
{pN}:bl:<p>              zset    backlog of jobs and seats: front first, then priority, age     live to twice that
{pN}:out:<p>             set     jobs and seats handed out, against the quota                live to twice that
{pN}:alive               zset    workers by when they called last                  live to twice that
{pN}:slots               hash    worker → slots                                    live to twice that
{pN}:leases              hash    worker → its lease, ms, while it lives or holds   live to twice that
{pN}:versions            hash    worker → its version                              live to twice that
{pN}:control             stream  jobs whose flags changed                          CONTROL_S
{pN}:ping                string  proof that writes are taken                       PING_S
{pN}:rate:<p>            hash    tokens left of a principal's rate (shard 0)        until it would be full again
{pN}:pace:<p>            hash    the same for its submits, where they are limited  until it would be full again
{pN}:audit:<date>        stream  audit log of a UTC day (shard 0)                   audit TTL from its last line
{pN}:wh:…                        webhook deliveries, named in webhooks/outbox.py    keep
{pN}:watched:<p>         hash    kinds of events that subscriptions of a principal or group want  as the longest of them
{pN}:improved:<sub>:<job>  string  time, penalty and cost of the last improvement it was sent  GAIN_S
{p0}:evsubs:<p>          hash    subscriptions to events by id, JSON                as the longest of them
{p0}:evgroup:<group>     hash    reviewers that subscribed to its reviews, and until when, ms  as the longest of them
{p0}:repeat:<digest>     string  request with an idempotency key and its answer     idempotency TTL
{p0}:whsec:<p>           hash    signing secrets (security/signing_secrets.py)      KEEP_S
{p0}:places:<p>          hash    addresses the principal confirmed                  scenario TTL from the last one
{p0}:mappings:<p>        hash    mappings of columns by name                        scenario TTL from the last one
{p0}:files:<p>           hash    uploaded files by name, base64                     file TTL from the last one
{p0}:ui:session:<digest> string  a principal signed in to the dashboard             auth_session_s, or as its key
{p0}:ui:sessions:<p>     list    the digests of its sessions                        as the last of them
{p0}:ui:ticket:<digest>  string  whom a one-time ticket signs in                    60 s

Without a TTL, for the shard owns them; each is bounded by what is queued, solving or set:
{pN}:clock               hash    seq (submissions), v (virtual time), slots (of living workers), quota (they give), …
{pN}:ready               stream  jobs and seats handed out, with principal; group `workers`; never more than slots
{pN}:feed                stream  all events of the shard, the last FEED_KEPT or so
{pN}:queued              zset    queued jobs by when their lives were last renewed
{pN}:solving             zset    solving jobs by when their lives were last renewed
{pN}:turn                zset    principals with work to hand out, by virtual time
{pN}:credit              zset    principals ahead of the shard's virtual time
{pN}:weights             hash    principal → share (default 1); set by the operator
{pN}:measured            hash    counts and sums for /metrics (jobs/records/measurements.py)
{pN}:outbox              stream  webhook deliveries; owned by the dispatcher, who deletes what is done
{pN}:keys                hash    API keys by id (shard 0); owned by the operator, who makes and revokes them

No key, a channel of its own: scn:<scenario>, a new job of it (its id).
```
Keys of MCP sessions (`mcp:…`) are in no shard: `jobs/store/sessions/` names them.
"""

from typing import Final

LIVE_AT_LEAST_S: Final = 7 * 86400
EVENTS_KEPT: Final = 512
FEED_KEPT: Final = 50_000
"""Ten seconds of 5000 events a second; a replica further behind reads each job's own stream."""
CONTROL_S: Final = 3600
PING_S: Final = 60
PARTS_S: Final = 120
"""Longest time between two blocks of a matrix that is stored."""
CALL_S: Final = 60
"""Longer than a submit may take: one without an answer may have made a job until then, and none later."""
SCENARIOS_LISTED: Final = 10_000
REFRESH_MS: Final = 86_400_000
"""The reaper renews the lives of a job that is not over this often."""

UNSHARDED: Final = 0
"""The shard of what belongs to the whole deployment: API keys, audit log, rates, signing secrets."""
OWNED: Final = frozenset(
    {"clock", "ready", "feed", "queued", "solving", "turn", "credit", "weights", "outbox", "keys", "measured"}
)
"""Last parts of the keys that have an owner instead of a TTL."""


def tag(shard: int) -> str:
    """Return the hash tag of a shard."""
    return f"{{p{shard}}}"


def key(shard: int, *parts: str) -> str:
    """Return a key of a shard."""
    return ":".join((tag(shard), *parts))
