-- Prefixed to every webhook step, after _common: names of keys and what all steps do to deliveries and endpoints.
-- A.policy holds the numbers of jobs/store/webhooks/delivery_policy.py; A.now_ms stands in for the clock in tests.
local W = P .. 'wh:'
local LEASES = W .. 'leases'
local NOW = A.now_ms or NOW_MS
local POLICY = A.policy

local function delivery_key(id) return W .. 'd:' .. id end
local function attempts_key(id) return W .. 'tries:' .. id end
local function endpoint_key(endpoint) return W .. 'ep:' .. endpoint end
local function queue_key(endpoint) return W .. 'q:' .. endpoint end
local function lane_key(is_proven) return W .. (is_proven and 'proven' or 'unproven') end
local function all_key(principal) return W .. 'all:' .. principal end
local function endpoints_key(principal) return W .. 'eps:' .. principal end
local function dead_key(principal) return W .. 'dead:' .. principal end

local COUNTS = { busy = W .. 'busy', load = W .. 'load' } -- of attempts to unproven endpoints, and of all
local function crowd_key(principal, is_proven) return W .. (is_proven and 'throng:' or 'crowd:') .. principal end

local function hash(key) return table_of(call('HGETALL', key)) end
local function lives(...)
  for _, key in ipairs({ ... }) do call('PEXPIRE', key, POLICY.keep_ms) end
end

-- Schedules the next attempt to an endpoint. Endpoints that answered 2xx last ("proven") have a queue of their own, so that
-- broken ones never delay them. An endpoint is not queued while its share is in flight.
local function rescore(endpoint)
  local known = hash(endpoint_key(endpoint))
  local is_proven = known.proven == '1'
  local head = call('ZRANGE', queue_key(endpoint), 0, 0, 'WITHSCORES')
  call('ZREM', lane_key(not is_proven), endpoint)
  if not head[1] or tonumber(known.inflight or 0) >= (is_proven and POLICY.parallel or 1) then
    return call('ZREM', lane_key(is_proven), endpoint)
  end
  local paced = tonumber(known.paced_ms or 0) - POLICY.burst_ms
  call('ZADD', lane_key(is_proven), math.max(tonumber(head[2]), tonumber(known.not_before_ms or 0), paced), endpoint)
  lives(lane_key(is_proven))
end

local function queue(id, endpoint, due_ms)
  call('ZADD', queue_key(endpoint), due_ms, id)
  call('HSET', delivery_key(id), 'due_ms', string.format('%d', due_ms))
  lives(queue_key(endpoint))
end

local function bury(id, delivery, reason)
  call('HSET', delivery_key(id), 'state', 'dead', 'error', reason, 'finished_ms', string.format('%d', NOW))
  call('ZADD', dead_key(delivery.principal), NOW, id)
  lives(delivery_key(id), attempts_key(id), dead_key(delivery.principal))
end

-- Its owner opens an endpoint: its failures are reset, and it has its full time to answer 2xx.
local function reopen(endpoint) call('HDEL', endpoint_key(endpoint), 'gone', 'not_before_ms', 'failing_ms') end

-- Counts an attempt of a principal until its lease ends. Of the principal's endpoints that stand aside meanwhile two of
-- either lane come back for each that ends: those that may not start yet step aside again.
local function occupy(id, principal, is_proven)
  for _, name in ipairs({ 'load', not is_proven and 'busy' or nil }) do
    if call('HGET', delivery_key(id), name) ~= '1' then -- else its lease ended where nobody counts
      call('HSET', delivery_key(id), name, 1)
      call('HINCRBY', COUNTS[name], principal, 1)
    end
    lives(COUNTS[name])
  end
end
local function vacate(id, delivery)
  for name, count in pairs(COUNTS) do
    if delivery[name] == '1' then
      call('HSET', delivery_key(id), name, 0)
      if call('HINCRBY', count, delivery.principal, -1) <= 0 then call('HDEL', count, delivery.principal) end
    end
  end
  for _, is_proven in ipairs({ true, false }) do
    local back = call('ZPOPMIN', crowd_key(delivery.principal, is_proven), 2)
    for place = 1, #back, 2 do rescore(back[place]) end
  end
end

-- Ends a lease; false when another dispatcher has it.
local function let_go(id, lease, delivery)
  if call('ZREM', LEASES, lease) == 0 then return false end
  call('HINCRBY', endpoint_key(delivery.endpoint), 'inflight', -1)
  vacate(id, delivery)
  return true
end
