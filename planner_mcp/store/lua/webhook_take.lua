-- Moves one outbox entry into the schedule, once however often it is called.
-- A: id, principal, url, endpoint, kind, job, entry (stream entry, '' for a delivery made by hand); ARGV[2]: body
local key = delivery_key(A.id)
if call('EXISTS', key) == 0 then
  local now = string.format('%d', NOW)
  call('HSET', key, 'principal', A.principal, 'url', A.url, 'endpoint', A.endpoint, 'job', A.job, 'kind', A.kind,
    'body', ARGV[2], 'state', 'pending', 'attempts', 0, 'fence', 0, 'created_ms', now,
    'expires_ms', string.format('%d', NOW + POLICY.expire_ms))
  call('ZADD', all_key(A.principal), NOW, A.id)
  for _, index in ipairs({ all_key(A.principal), dead_key(A.principal) }) do
    call('ZREMRANGEBYSCORE', index, '-inf', NOW - POLICY.keep_ms)
  end
  queue(A.id, A.endpoint, NOW + POLICY.first_ms)
  call('HSET', endpoint_key(A.endpoint), 'url', A.url)
  lives(key, all_key(A.principal), endpoint_key(A.endpoint))
  rescore(A.endpoint)
end
if A.entry ~= '' then
  call('XACK', OUTBOX, 'couriers', A.entry)
  call('XDEL', OUTBOX, A.entry)
end
return { 'ok' }
