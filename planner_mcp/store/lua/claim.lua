-- Turns a delivered entry into a claim: the next fencing number, and all a worker needs to start.
-- A: job, delivery, worker
local pending = call('XPENDING', READY, GROUP, A.delivery, A.delivery, 1)[1]
if not pending or pending[2] ~= A.worker then return { 'gone' } end

local job = read(A.job)
if not job or job.delivery ~= A.delivery or not MOVES[job.state .. ':claim'] then
  call('XACK', READY, GROUP, A.delivery)
  call('XDEL', READY, A.delivery)
  dispatch()
  return { 'gone' }
end

local scenario = call('HGETALL', scenario_key(job.scenario_id))
if not scenario[1] then
  write(A.job, job, { error = A.missing })
  settle(A.job, job, 'fail', '{"error":' .. A.missing .. '}')
  dispatch()
  return { 'gone' }
end

move(A.job, job, 'claim')
write(A.job, job, { fence = tonumber(job.fence) + 1, worker = A.worker, started_ms = job.started_ms or NOW_MS })
emit(A.job, job, 'started', '{"attempt":' .. job.fence .. '}', true)
keep(A.job, job)
return { 'ok', call('HGETALL', job_key(A.job)), scenario, call('GET', plan_key(A.job)) }
