-- Shows the workers this shard knows: name, version, slots, ms since the last heartbeat, whether that is in time, and how many
-- jobs each solves.
local solving = {}
for _, id in ipairs(call('ZRANGE', SOLVING, 0, -1)) do
  local worker = call('HGET', job_key(id), 'worker')
  if worker then solving[worker] = (solving[worker] or 0) + 1 end
end
local rows = { 'ok' }
for in_time, workers in ipairs({ roll_call() }) do
  for _, worker in ipairs(workers) do
    rows[#rows + 1] = {
      worker, call('HGET', VERSIONS, worker) or '', tonumber(call('HGET', SLOTS, worker) or 0),
      NOW_MS - tonumber(call('ZSCORE', ALIVE, worker)), in_time == 1 and 1 or 0, solving[worker] or 0,
    }
  end
end
return rows
