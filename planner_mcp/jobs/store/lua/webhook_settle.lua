-- Records one attempt and what follows from it; refused once the lease has passed on.
-- A: id, fence, is_delivered, error, delay_ms (-1: no further attempt), pause_ms, is_gone, is_withdrawn (nothing was
--    sent), status (0: none), took_ms
local key = delivery_key(A.id)
local delivery = hash(key)
if not delivery.endpoint or not let_go(A.id, A.id .. '/' .. A.fence, delivery) then return { 'lost' } end
if A.is_withdrawn then
  bury(A.id, delivery, A.error)
  rescore(delivery.endpoint)
  return { 'ok' }
end
call('HINCRBY', key, 'attempts', 1)
call('RPUSH', attempts_key(A.id), cjson.encode({ at_ms = NOW, status = A.status, error = A.error, took_ms = A.took_ms }))

observe('webhook_attempt', A.is_delivered and 'delivered' or A.delay_ms < 0 and 'dead' or 'failed', A.took_ms)

local endpoint = endpoint_key(delivery.endpoint)
call('HSET', endpoint, 'status', A.status, 'last_ms', string.format('%d', NOW))
if A.is_delivered then
  call('HSET', endpoint, 'proven', 1, 'failures', 0)
  call('HDEL', endpoint, 'gone', 'not_before_ms', 'failing_ms')
  call('HSET', key, 'state', 'delivered', 'error', '', 'finished_ms', string.format('%d', NOW))
else
  local failures = call('HINCRBY', endpoint, 'failures', 1)
  call('HSETNX', endpoint, 'failing_ms', string.format('%d', NOW))
  local rest = A.pause_ms
  if failures >= POLICY.trips then
    rest = math.max(rest, math.min(POLICY.rest_ms * 2 ^ math.min(failures - POLICY.trips, 10), POLICY.longest_rest_ms))
  end
  local not_before = math.max(tonumber(call('HGET', endpoint, 'not_before_ms') or 0), NOW + rest)
  call('HSET', endpoint, 'proven', 0, 'not_before_ms', string.format('%d', not_before))
  local failing_ms = NOW - tonumber(call('HGET', endpoint, 'failing_ms'))
  if A.is_gone then
    call('HSET', endpoint, 'gone', 'endpoint is gone')
  elseif failures >= POLICY.trips and failing_ms >= POLICY.disable_ms then
    call('HSET', endpoint, 'gone', 'endpoint failed for too long')
  end
  call('HSET', key, 'error', A.error)
  if A.delay_ms < 0 then bury(A.id, delivery, A.error) else queue(A.id, delivery.endpoint, NOW + A.delay_ms) end
end
lives(endpoint, key, attempts_key(A.id))
rescore(delivery.endpoint)
return { 'ok' }
