-- Moves outbox entries into the schedule, each once however often it is called.
-- A.postings: [{id, principal, url, endpoint, kind, job, entry ('' for a delivery made by hand)}]; ARGV[2…]: their bodies
local function schedule(posting, body)
  local key = delivery_key(posting.id)
  if call('EXISTS', key) == 1 then return end
  call('HSET', key, 'principal', posting.principal, 'url', posting.url, 'endpoint', posting.endpoint,
    'job', posting.job, 'kind', posting.kind, 'body', body, 'state', 'pending', 'attempts', 0, 'fence', 0,
    'created_ms', string.format('%d', NOW), 'expires_ms', string.format('%d', NOW + POLICY.expire_ms))
  local all, dead = all_key(posting.principal), dead_key(posting.principal)
  call('ZADD', all, NOW, posting.id)
  for _, index in ipairs({ all, dead }) do call('ZREMRANGEBYSCORE', index, '-inf', NOW - POLICY.keep_ms) end
  queue(posting.id, posting.endpoint, NOW + POLICY.first_ms)
  call('HSET', endpoint_key(posting.endpoint), 'url', posting.url)
  call('ZADD', endpoints_key(posting.principal), NOW, posting.endpoint)
  call('ZREMRANGEBYSCORE', endpoints_key(posting.principal), '-inf', NOW - POLICY.keep_ms)
  if posting.entry == '' then reopen(posting.endpoint) end
  lives(key, all, endpoint_key(posting.endpoint), endpoints_key(posting.principal))
  rescore(posting.endpoint)
end

for number, posting in ipairs(A.postings) do
  schedule(posting, ARGV[number + 1])
  if posting.entry ~= '' then
    call('XACK', OUTBOX, 'couriers', posting.entry)
    call('XDEL', OUTBOX, posting.entry)
  end
end
return { 'ok' }
