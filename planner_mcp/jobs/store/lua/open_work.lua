-- The work that waits and what is left of running jobs, in CPU seconds, and whether a webhook could be sent now (1 or 0). Of
-- more than SAMPLE jobs the oldest are read, and their mean stands for the others.
local SAMPLE = 1000

local function work(place, is_running)
  local seconds, count = 0, 0
  for _, id in ipairs(call('ZRANGE', place, 0, SAMPLE - 1)) do
    local kept = call('HMGET', job_key(id), 'cpu_s', 'started_ms', 'dealt')
    if kept[1] then
      local used_s = is_running and (NOW_MS - tonumber(kept[2] or NOW_MS)) / 1000 * LIMITS.cores * (1 + tonumber(kept[3] or 0)) or 0
      seconds, count = seconds + math.max(0, tonumber(kept[1]) - used_s), count + 1
    end
  end
  return count == 0 and 0 or seconds / count * call('ZCARD', place)
end

-- Entries that no dispatcher has taken, attempts that are due, and those whose dispatcher is gone (webhooks/outbox.py).
local function has_due_webhooks()
  if call('XLEN', OUTBOX) > 0 then return 1 end
  for _, name in ipairs({ 'proven', 'unproven', 'leases' }) do
    if call('ZRANGEBYSCORE', P .. 'wh:' .. name, '-inf', NOW_MS, 'LIMIT', 0, 1)[1] then return 1 end
  end
  return 0
end

return { 'ok', string.format('%.3f', work(QUEUED, false)), string.format('%.3f', work(SOLVING, true)), has_due_webhooks() }
