-- Hands out deliveries that are due, one an endpoint in turn, each under a lease and a new fencing number.
-- A: room (deliveries wanted), unproven (how many of them may go to endpoints that did not answer 2xx last), spare (room
-- that is kept for endpoints without an attempt under way), reserve (of either room, what is kept for principals with
-- less than their share under way), share (attempts: for unproven room to such endpoints, else to all)
for _, lease in ipairs(call('ZRANGEBYSCORE', LEASES, '-inf', NOW, 'LIMIT', 0, 200)) do
  local id = lease:match('^(.*)/%d+$')
  local delivery = hash(delivery_key(id))
  if delivery.endpoint then
    let_go(id, lease, delivery)
    if delivery.state == 'pending' then queue(id, delivery.endpoint, NOW) end
    rescore(delivery.endpoint)
  else
    call('ZREM', LEASES, lease)
  end
end

if call('EXISTS', LEASES) == 0 then call('DEL', COUNTS.busy, COUNTS.load) end

local function refusal(delivery, known)
  if delivery.state ~= 'pending' then return '' end
  if known.gone then return known.gone end
  if tonumber(delivery.expires_ms) < NOW then return 'endpoint is out of service' end
end

local function lease(id, delivery, known)
  local fence = call('HINCRBY', delivery_key(id), 'fence', 1)
  call('ZADD', LEASES, NOW + POLICY.lease_ms, id .. '/' .. fence)
  call('HINCRBY', endpoint_key(delivery.endpoint), 'inflight', 1)
  local paced = math.max(tonumber(known.paced_ms or 0), NOW) + POLICY.interval_ms
  call('HSET', endpoint_key(delivery.endpoint), 'paced_ms', string.format('%d', paced))
  occupy(id, delivery.principal, known.proven == '1')
  call('ZREM', crowd_key(delivery.principal, known.proven == '1'), delivery.endpoint)
  lives(LEASES, endpoint_key(delivery.endpoint), delivery_key(id))
  return { id, fence, delivery.principal, delivery.url, delivery.body, tonumber(delivery.attempts),
    known.proven == '1' and 1 or 0 }
end

local claimed, room = {}, { [true] = A.room, [false] = math.min(A.room, A.unproven) }

-- Where little room is left it is for endpoints that have nothing in flight: those that work have settled by then, and
-- endpoints that all stopped to answer at once share what the others leave.
local function must_wait(endpoint)
  if A.room - #claimed > A.spare then return false end
  return tonumber(call('HGET', endpoint_key(endpoint), 'inflight') or 0) > 0
end

-- Likewise the last of either room is for principals with less than their share of it: however many endpoints one of
-- them names, silent or slow to say 200, the first contact of another is made and what works for another goes on. Who
-- steps aside comes back when an attempt of the same principal ends, or is looked at again after a while, should the
-- count be wrong.
local function steps_aside(endpoint, is_proven)
  if room[is_proven] - #claimed > A.reserve then return false end
  local head = call('ZRANGE', queue_key(endpoint), 0, 0, 'WITHSCORES')
  local principal = call('HGET', delivery_key(head[1] or ''), 'principal')
  local count = is_proven and COUNTS.load or COUNTS.busy
  if not principal or tonumber(call('HGET', count, principal) or 0) < A.share then return false end
  call('ZADD', lane_key(is_proven), NOW + 10 * POLICY.lease_ms, endpoint)
  local crowd = crowd_key(principal, is_proven)
  call('ZADD', crowd, head[2], endpoint) -- by what is due: asked again it keeps its place
  lives(crowd)
  return true
end

local function serve(endpoint, is_proven)
  if must_wait(endpoint) then return call('ZREM', lane_key(is_proven), endpoint) end -- back with its next answer
  if steps_aside(endpoint, is_proven) then return end
  local id = call('ZPOPMIN', queue_key(endpoint))[1]
  local delivery = id and hash(delivery_key(id)) or {}
  if delivery.state then
    local known = hash(endpoint_key(endpoint))
    local reason = refusal(delivery, known)
    if not reason then
      claimed[#claimed + 1] = lease(id, delivery, known)
    elseif reason ~= '' then
      bury(id, delivery, reason)
    end
  end
  rescore(endpoint)
end

local steps = 0
for _, is_proven in ipairs({ true, false }) do
  while steps < 500 and #claimed < A.room and (is_proven or #claimed < room[false]) do
    local ready = call('ZRANGEBYSCORE', lane_key(is_proven), '-inf', NOW, 'LIMIT', 0, 1)
    if not ready[1] then break end
    serve(ready[1], is_proven)
    steps = steps + 1
  end
end

local next_ms = -1
for _, key in ipairs({ lane_key(true), lane_key(false), LEASES }) do
  local score = tonumber(call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
  if score and (next_ms < 0 or score - NOW < next_ms) then next_ms = math.max(0, score - NOW) end
end
return { 'ok', claimed, math.ceil(next_ms) }
