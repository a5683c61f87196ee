-- How a worker takes a job that was delivered to it: the next fencing number, and all it needs to start.

-- The next entry of the ready stream, the job it names and its principal, or nil.
local function deliver(worker)
  local read = call('XREADGROUP', 'GROUP', GROUP, worker, 'COUNT', 1, 'STREAMS', READY, '>')
  if not read then return nil end
  local entry = read[1][2][1]
  return entry[1], named(entry)
end

-- The scenario of a job that may start. A job without one fails with the error `missing`.
local function startable(id, job, delivery, principal, missing)
  if not job or job.delivery ~= delivery or not MOVES[job.state .. ':claim'] then
    discard(delivery, id, principal)
    return nil
  end
  local scenario = call('HGETALL', scenario_key(job.scenario_id))
  if scenario[1] then return scenario end
  write(id, job, { error = missing })
  settle(id, job, 'fail', '{"error":' .. missing .. '}')
end

-- The lives of the job's keys were renewed when it was queued, and daily since: longer than any search lasts.
local function start(id, job, scenario, worker)
  move(id, job, 'claim')
  outlive(index_key(job.principal, job.state))
  if not job.started_ms then observe('queue_wait', '', NOW_MS - job.submitted_ms) end
  write(id, job, { fence = tonumber(job.fence) + 1, worker = worker, started_ms = job.started_ms or NOW_MS })
  emit(id, job, 'started', '{"attempt":' .. job.fence .. '}', true)
  save(id)
  return { 'ok', flat_of(job), scenario, job.plan_id ~= '' and call('GET', plan_key(id)), id, job.delivery }
end

-- Starts the first job that can start: all a worker needs of it, or that there is none.
local function take(worker, missing, deliver_next)
  while true do
    local delivery, id, principal = deliver_next(worker)
    if not delivery then return { 'none' } end
    local job = id and read(id)
    local scenario = startable(id, job, delivery, principal, missing)
    if scenario then return start(id, job, scenario, worker) end
    dispatch()
  end
end
