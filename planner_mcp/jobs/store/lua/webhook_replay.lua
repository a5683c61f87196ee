-- Schedules a delivery that has ended anew, from its first attempt and with the same id; one still pending is left alone.
-- A: id, principal
local key = delivery_key(A.id)
local delivery = hash(key)
if delivery.principal ~= A.principal then return { 'unknown' } end
if delivery.state == 'pending' then return { 'pending' } end
call('HSET', key, 'state', 'pending', 'attempts', 0, 'expires_ms', string.format('%d', NOW + POLICY.expire_ms))
call('HDEL', key, 'finished_ms')
call('ZREM', dead_key(A.principal), A.id)
call('HSET', endpoint_key(delivery.endpoint), 'url', delivery.url)
reopen(delivery.endpoint)
queue(A.id, delivery.endpoint, NOW)
lives(key, attempts_key(A.id), endpoint_key(delivery.endpoint))
rescore(delivery.endpoint)
return { 'ok' }
