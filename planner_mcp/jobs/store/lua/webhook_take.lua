-- Moves outbox entries into the schedule, each once however often it is called.
-- A.deliveries: [{id, principal, url, endpoint, kind, job, entry ('' for a delivery made by hand)}]; ARGV[2…]: their bodies
local function schedule(delivery, body)
  local key = delivery_key(delivery.id)
  if call('EXISTS', key) == 1 then return end
  call('HSET', key, 'principal', delivery.principal, 'url', delivery.url, 'endpoint', delivery.endpoint,
    'job', delivery.job, 'kind', delivery.kind, 'body', body, 'state', 'pending', 'attempts', 0, 'fence', 0,
    'created_ms', string.format('%d', NOW), 'expires_ms', string.format('%d', NOW + POLICY.expire_ms))
  local all, dead = all_key(delivery.principal), dead_key(delivery.principal)
  call('ZADD', all, NOW, delivery.id)
  for _, index in ipairs({ all, dead }) do call('ZREMRANGEBYSCORE', index, '-inf', NOW - POLICY.keep_ms) end
  queue(delivery.id, delivery.endpoint, NOW + POLICY.first_ms)
  call('HSET', endpoint_key(delivery.endpoint), 'url', delivery.url)
  call('ZADD', endpoints_key(delivery.principal), NOW, delivery.endpoint)
  call('ZREMRANGEBYSCORE', endpoints_key(delivery.principal), '-inf', NOW - POLICY.keep_ms)
  if delivery.entry == '' then reopen(delivery.endpoint) end
  lives(key, all, endpoint_key(delivery.endpoint), endpoints_key(delivery.principal))
  rescore(delivery.endpoint)
end

for number, delivery in ipairs(A.deliveries) do
  schedule(delivery, ARGV[number + 1])
  if delivery.entry ~= '' then
    call('XACK', OUTBOX, 'couriers', delivery.entry)
    call('XDEL', OUTBOX, delivery.entry)
  end
end
return { 'ok' }
