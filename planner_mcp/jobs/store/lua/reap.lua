-- Requeues jobs whose lease ran out (pending longer than their worker's lease), and keeps what waits or runs long from
-- expiring.
-- Removes consumers without a living worker; one that holds a job stays until that job is requeued.
-- A: poison, count
pcall(call, 'XGROUP', 'CREATE', READY, GROUP, '0', 'MKSTREAM')
if is_recent('swept_ms') then return { 'ok', 0 } end
local taken = 0

-- Deliveries without a renewal for longer than the lease of their holder, or than the own lease where that is unknown.
local function overdue()
  local leases, least_ms = table_of(call('HGETALL', LEASES)), LIMITS.lease_ms
  for _, lease_ms in pairs(leases) do least_ms = math.min(least_ms, tonumber(lease_ms)) end
  local found, most = {}, math.max(A.count, call('XLEN', READY))
  for _, pending in ipairs(call('XPENDING', READY, GROUP, 'IDLE', least_ms, '-', '+', most)) do
    if pending[3] >= lease_ms_of(pending[2], leases) and #found < A.count then found[#found + 1] = pending[1] end
  end
  return found
end

for _, delivery in ipairs(overdue()) do
  local id, principal = named(call('XRANGE', READY, delivery, delivery)[1])
  local job = id and read(id)
  if job and job.delivery == delivery and job.state == 'solving' then
    put_back(id, job, 'crash', A.poison)
    taken = taken + 1
  elseif job and job.delivery == delivery and job.state == 'queued' then -- delivered, never claimed: nobody's fault
    release(id, job)
    enqueue(id, job, true)
    keep(id, job)
    taken = taken + 1
  else
    discard(delivery, id, principal)
  end
end

for _, places in ipairs({ QUEUED, SOLVING }) do
  for _, id in ipairs(call('ZRANGEBYSCORE', places, '-inf', NOW_MS - LIMITS.refresh_ms, 'LIMIT', 0, A.count)) do
    local job = read(id)
    if job then
      keep(id, job)
      call('ZADD', places, NOW_MS, id)
    else
      call('ZREM', places, id)
    end
  end
end
for _, flat in ipairs(call('XINFO', 'CONSUMERS', READY, GROUP)) do
  local consumer = table_of(flat)
  if consumer.pending == 0 and not call('ZSCORE', ALIVE, consumer.name) then
    forget_worker(consumer.name)
  end
end
dispatch()
return { 'ok', taken }
