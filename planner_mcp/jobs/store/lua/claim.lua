-- Takes the next job for a worker. What was delivered to the worker and is not among what it holds comes first: a
-- delivery it waited for, or a claim whose answer was lost; its lease begins anew.
-- A: worker, held (deliveries), turn (rises with each try of this worker), missing (the error of a job whose scenario is gone)
local held = {}
for _, delivery in ipairs(A.held) do held[delivery] = true end

-- The next entry of the ready stream, the job it names and its principal, or nil.
local function deliver(worker)
  local read = call('XREADGROUP', 'GROUP', GROUP, worker, 'COUNT', 1, 'STREAMS', READY, '>')
  if not read then return nil end
  local entry = read[1][2][1]
  return entry[1], named(entry)
end

local function unclaimed(worker)
  for _, pending in ipairs(call('XPENDING', READY, GROUP, '-', '+', #A.held + 1, worker)) do
    if not held[pending[1]] then
      return pending[1], named(call('XRANGE', READY, pending[1], pending[1])[1])
    end
  end
  return deliver(worker)
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

-- Whether the worker has claimed this job by a later try: its answer arrived, and `held` is out of date. Such a try was
-- given up by its sender and has arrived late; workers of the version before send no turn.
local function is_outdated(job)
  return job and job.state == 'solving' and A.turn and tonumber(job.turn or 0) > A.turn
end

-- Asks for the other seats of a team, before all that its principal has waiting.
local function ask_for_seats(id, job)
  each_seat(id, job, function(seat) enqueue(seat, job, true) end)
  outlive(backlog_key(job.principal))
  dispatch()
end

-- Claims a seat, if its team still searches.
local function sit_down(seat, delivery, worker)
  local job, id = team_of(seat)
  local scenario = job and call('HGETALL', scenario_key(job.scenario_id))
  if not job or not scenario[1] then return nil end
  call('XCLAIM', READY, GROUP, worker, 0, delivery, 'JUSTID')
  return { 'ok', flat_of(job), scenario, job.plan_id ~= '' and call('GET', plan_key(id)), id, delivery, seat }
end

-- The expiries of the job's keys were renewed when it was queued and daily since: for longer than any search takes.
local function start(id, job, scenario, worker)
  call('XCLAIM', READY, GROUP, worker, 0, job.delivery, 'JUSTID')
  move(id, job, 'claim')
  outlive(index_key(job.principal, job.state))
  if not job.started_ms then observe('queue_wait', '', NOW_MS - job.submitted_ms) end
  write(id, job, { fence = tonumber(job.fence) + 1, worker = worker, turn = A.turn or 0, started_ms = job.started_ms or NOW_MS })
  emit(id, job, 'started', '{"attempt":' .. job.fence .. '}', true)
  save(id)
  if job.seats then ask_for_seats(id, job) end
  return { 'ok', flat_of(job), scenario, job.plan_id ~= '' and call('GET', plan_key(id)), id, job.delivery, '' }
end

if call('EXISTS', READY) == 0 then return { 'none' } end
while true do
  local delivery, id, principal = unclaimed(A.worker)
  if not delivery then return { 'none' } end
  local seat = id and sit_down(id, delivery, A.worker)
  if seat then return seat end
  local job = id and read(id)
  if is_outdated(job) then return { 'none' } end
  local scenario = startable(id, job, delivery, principal, A.missing)
  if scenario then return start(id, job, scenario, A.worker) end
  dispatch()
end
