-- Queues a job, or returns the one the same call already made.
-- A: job, principal, scenario, request, priority, cpu_s, seats, url, masked ('1': the caller sees no figures), idem ('' for none), digest ('' unless the key is explicit), idem_s
if call('EXISTS', job_key(A.job)) == 1 then return shown(A.job, read(A.job)) end -- the same step, repeated
if call('HGET', scenario_key(A.scenario), 'principal') ~= A.principal then return { 'not_found' } end

local idem = A.idem ~= '' and P .. 'idem:' .. A.principal .. ':' .. A.idem or ''

-- Explicit keys hold "<digest> <job>" and answer for every state; implicit ones hold the job and end with a failure.
local function made_before()
  local kept = idem ~= '' and A.find and call('GET', idem)
  if not kept then return nil end
  local digest, id = kept:match('^(%x+) (.+)$')
  id = id or kept
  local job = owned(id, A.principal)
  if not job then return nil end
  if digest and digest ~= A.digest then return { 'conflict' } end
  return shown(id, job)
end

local function refusal()
  local slots = math.max(1, tonumber(call('HGET', CLOCK, 'slots') or 0))
  local wait_s = math.max(1, math.min(60, math.ceil(A.cpu_s / slots)))
  if call('ZCARD', QUEUED) >= LIMITS.max_queued then return { 'full', wait_s } end
  if call('ZCARD', index_key(A.principal, 'queued')) >= LIMITS.max_queued_each then return { 'quota', wait_s } end
  if LIMITS.submit_rate > 0 then
    local wait_ms = take_token(P .. 'pace:' .. A.principal, LIMITS.submit_rate, LIMITS.submit_burst)
    if wait_ms > 0 then return { 'pace', math.ceil(wait_ms / 1000) } end
  end
end

local answer = made_before() or refusal()
if answer then return answer end
forget_expired(A.principal, 8)

local scenario = call('HMGET', scenario_key(A.scenario), 'confidential', 'name', 'date')
local job = {}
jobs[A.job] = job -- dispatch() reads it from here
write(A.job, job, {
  principal = A.principal, scenario_id = A.scenario, request = A.request, state = 'queued', priority = A.priority,
  seq = call('HINCRBY', CLOCK, 'seq', 1), cpu_s = A.cpu_s, url = A.url, idem = A.digest == '' and idem or '',
  confidential = scenario[1] or '1', name = scenario[2] or '', date = scenario[3] or '', masked = A.masked or '',
  submitted_ms = NOW_MS, seats = A.seats, fence = 0, crashes = 0, percent = 0, cancel = '', finish = '', delivery = '', plan_id = '',
  summary = '', progress = '', best = '', events = 0,
})
call('HSET', scenario_key(A.scenario), 'job', A.job)
if A.is_proof then
  local earlier = call('HGET', scenario_key(A.scenario), 'proofs') or ''
  call('HSET', scenario_key(A.scenario), 'proofs', A.job .. ' ' .. string.match(earlier, '^%S* ?%S* ?%S*'))
end
-- watchers of the scenario's result follow this job from now on (jobs/events/pubsub_channels.py: scenario_channel)
call('PUBLISH', 'scn:' .. A.scenario, A.job)
call('ZADD', QUEUED, NOW_MS, A.job)
call('ZADD', index_key(A.principal), job.seq, A.job)
call('ZADD', index_key(A.principal, 'queued'), job.seq, A.job)
if idem ~= '' then
  call('SET', idem, A.digest == '' and A.job or A.digest .. ' ' .. A.job, 'EX', A.digest == '' and LIMITS.live_s or A.idem_s)
end
enqueue(A.job, job, false)
emit(A.job, job, 'queued', '{}', true)
keep(A.job, job)
dispatch()
return shown(A.job, job)
