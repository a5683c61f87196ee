-- Takes the next job for a worker: the next fencing number, and all it needs to start. What was delivered to the worker
-- and is not among what it holds comes first: a delivery it waited for, or a claim whose answer was lost.
-- A: worker, held (deliveries), missing (the error of a job whose scenario is gone)
local function unclaimed()
  local held = {}
  for _, delivery in ipairs(A.held) do held[delivery] = true end
  for _, pending in ipairs(call('XPENDING', READY, GROUP, '-', '+', #A.held + 1, A.worker)) do
    if not held[pending[1]] then return pending[1], call('XRANGE', READY, pending[1], pending[1])[1] end
  end
end

local function delivered()
  local delivery, entry = unclaimed()
  if delivery then return delivery, entry and entry[2][2] end
  local read = call('XREADGROUP', 'GROUP', GROUP, A.worker, 'COUNT', 1, 'STREAMS', READY, '>')
  if not read then return nil end
  entry = read[1][2][1]
  return entry[1], entry[2][2]
end

local function startable(id, job, delivery)
  if not job or job.delivery ~= delivery or not MOVES[job.state .. ':claim'] then
    call('XACK', READY, GROUP, delivery)
    call('XDEL', READY, delivery)
    return nil
  end
  local scenario = call('HGETALL', scenario_key(job.scenario_id))
  if scenario[1] then return scenario end
  write(id, job, { error = A.missing })
  settle(id, job, 'fail', '{"error":' .. A.missing .. '}')
end

local function start(id, job, scenario)
  move(id, job, 'claim')
  write(id, job, { fence = tonumber(job.fence) + 1, worker = A.worker, started_ms = job.started_ms or NOW_MS })
  emit(id, job, 'started', '{"attempt":' .. job.fence .. '}', true)
  keep(id, job)
  return { 'ok', flat_of(job), scenario, call('GET', plan_key(id)), id, job.delivery }
end

if call('EXISTS', READY) == 0 then return { 'none' } end
while true do
  local delivery, id = delivered()
  if not delivery then return { 'none' } end
  local job = id and read(id)
  local scenario = startable(id, job, delivery)
  if scenario then return start(id, job, scenario) end
  dispatch()
end
