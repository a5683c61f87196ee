-- Stores a scenario with its expiry and lists it; refused when its principal has as many as allowed.
-- A: scenario, principal, ttl_s, listed (how many are listed); ARGV[2…]: fields and values
local index, lives, weight = P .. 'scns:' .. A.principal, P .. 'scnx:' .. A.principal, P .. 'scnb:' .. A.principal
local bytes = 0
for i = 2, #ARGV do bytes = bytes + #ARGV[i] end
local entry = A.scenario .. ' ' .. bytes

-- Expiries only grow, so entries that are not due still exist. Some that are due: expired, or used since.
for _, due in ipairs(call('ZRANGEBYSCORE', lives, '-inf', NOW_MS, 'LIMIT', 0, 64)) do
  local id, size = due:match('^(%S+) (%d+)$')
  local left_ms = call('PTTL', scenario_key(id))
  if left_ms > 0 then
    call('ZADD', lives, NOW_MS + left_ms, due)
  else
    call('ZREM', lives, due)
    call('ZREM', index, id)
    call('DECRBY', weight, size)
  end
end

local function refusal()
  local next_ms = tonumber(call('ZRANGE', lives, 0, 0, 'WITHSCORES')[2] or NOW_MS)
  local wait_s = math.max(1, math.ceil((next_ms - NOW_MS) / 1000))
  if call('ZCARD', lives) >= LIMITS.max_scenarios then return { 'scenarios', wait_s } end
  if tonumber(call('GET', weight) or 0) + bytes > LIMITS.max_scenarios_bytes then return { 'bytes', wait_s } end
end

if not call('ZSCORE', lives, entry) then -- else the same step, repeated
  local answer = refusal()
  if answer then return answer end
  call('INCRBY', weight, bytes)
end
call('HSET', scenario_key(A.scenario), unpack(ARGV, 2))
call('ZADD', lives, NOW_MS + A.ttl_s * 1000, entry)
call('ZADD', index, NOW_MS, A.scenario)
call('ZREMRANGEBYRANK', index, 0, -A.listed - 1)
use('scn', A.scenario, A.principal, A.ttl_s)
return { 'ok' }
