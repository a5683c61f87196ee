-- Registers a worker or renews its heartbeat (slots > 0), or withdraws it (slots = 0); removes workers without a heartbeat for
-- three of their leases. Returns the time of the clock that leases go by. Workers of the version before send heartbeats without a lease.
-- A: worker, slots, version
local function withdraw(worker)
  call('ZREM', ALIVE, worker)
  call('HDEL', SLOTS, worker)
  call('HDEL', VERSIONS, worker)
  if not call('XPENDING', READY, GROUP, '-', '+', 1, worker)[1] then forget_worker(worker) end
end

pcall(call, 'XGROUP', 'CREATE', READY, GROUP, '0', 'MKSTREAM') -- it exists already, all but once
local is_known = A.slots > 0 and tonumber(call('HGET', SLOTS, A.worker)) == A.slots
if A.slots > 0 then
  call('ZADD', ALIVE, NOW_MS, A.worker)
  call('HSET', SLOTS, A.worker, A.slots)
  call('HSET', LEASES, A.worker, LIMITS.lease_ms)
  call('HSET', VERSIONS, A.worker, A.version or '')
elseif A.worker ~= '' then
  withdraw(A.worker)
end
if (is_known or A.worker == '') and is_recent('called_ms') then return { 'ok', NOW_MS } end
local _, silent = roll_call()
for _, worker in ipairs(silent) do withdraw(worker) end
outlive(ALIVE)
outlive(SLOTS)
outlive(LEASES)
outlive(VERSIONS)

local total = 0
for _, slots in ipairs(call('HVALS', SLOTS)) do total = total + tonumber(slots) end
call('HSET', CLOCK, 'slots', total)
follow_quota()
dispatch()
return { 'ok', NOW_MS }
