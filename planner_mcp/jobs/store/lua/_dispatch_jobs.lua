-- Decides which job is next. The ready stream never has more entries than workers have slots, so its FIFO order is fair.
-- Fair sharing is start-time fair queueing: a principal's turn is its virtual time, which each job dispatched moves on
-- by its estimated CPU seconds over the principal's weight. `clock.v` is the shard's virtual time.
local LEASES = P .. 'leases'
local FRONT = 2 ^ 45
local START_S = 0.01 -- smallest charge of a job; a principal with free jobs would always be next

local clock -- virtual time and slots, read once a step
local function clocked()
  if not clock then
    local kept = call('HMGET', CLOCK, 'v', 'slots')
    clock = { v = tonumber(kept[1] or 0), slots = tonumber(kept[2] or 0) }
  end
  return clock
end

-- Largest number of jobs of one principal that may be dispatched: its quota, and at most its share of the slots. All
-- shards have the same slots, so each has a part of the share.
local function quota()
  if LIMITS.max_share >= 1 then return LIMITS.max_solving end
  return math.min(LIMITS.max_solving, math.max(1, math.floor(LIMITS.max_share * clocked().slots + 1e-9)))
end

local function weight(principal) return tonumber(call('HGET', WEIGHTS, principal) or 1) end

-- A principal is in the turn order exactly while it has a backlog and is below its quota. One that was just served is
-- placed at `served`.
local function line_up(principal, served)
  if call('ZCARD', backlog_key(principal)) == 0 or call('SCARD', out_key(principal)) >= quota() then
    call('ZREM', TURN, principal)
  elseif served or not call('ZSCORE', TURN, principal) then
    local place = served or math.max(tonumber(call('ZSCORE', CREDIT, principal) or 0), clocked().v)
    call('ZADD', TURN, place, principal)
  end
end

-- The job of an entry of the ready stream, and its principal, which entries of earlier versions lack.
local function named(entry)
  if entry then return entry[2][2], entry[2][4] end
end

-- Removes a job whose keys expired before its end from quotas and indexes.
local function forget(id, principal)
  call('SREM', out_key(principal), id)
  call('ZREM', index_key(principal), id)
  for state, places in pairs({ queued = QUEUED, solving = SOLVING }) do
    call('ZREM', index_key(principal, state), id)
    call('ZREM', places, id)
  end
  line_up(principal)
end

-- Removes an entry of the ready stream whose job cannot start.
local function discard(delivery, id, principal)
  call('XACK', READY, GROUP, delivery)
  call('XDEL', READY, delivery)
  if principal and not read(id) then forget(id, principal) end
end

-- Removes a worker that is gone and holds no job. One that holds a job stays until the lease has run out.
local function forget_worker(worker)
  call('XGROUP', 'DELCONSUMER', READY, GROUP, worker)
  call('HDEL', LEASES, worker)
end

-- The lease of a worker in ms. It may differ during a rollout; without one the own lease counts.
local function lease_ms_of(worker, leases) return tonumber(leases[worker] or LIMITS.lease_ms) end

-- Whether a chore that reads all workers was done just before, by any of them. A small fleet does every one, since it costs
-- little; in a large one they would take all of the shard's time.
local SMALL_FLEET, TIMES_A_LEASE = 32, 8
local function is_recent(chore)
  if call('ZCARD', ALIVE) <= SMALL_FLEET then return false end
  local ago_ms = NOW_MS - tonumber(call('HGET', CLOCK, chore) or 0)
  if ago_ms >= 0 and ago_ms < LIMITS.lease_ms / TIMES_A_LEASE then return true end
  call('HSET', CLOCK, chore, NOW_MS)
  return false
end

-- The workers that sent a heartbeat within three of their leases, and the others.
local function roll_call()
  local leases, alive, silent = table_of(call('HGETALL', LEASES)), {}, {}
  local called = call('ZRANGE', ALIVE, 0, -1, 'WITHSCORES')
  for i = 1, #called, 2 do
    local worker, last_ms = called[i], tonumber(called[i + 1])
    local group = NOW_MS < last_ms + 3 * lease_ms_of(worker, leases) and alive or silent
    group[#group + 1] = worker
  end
  return alive, silent
end

-- After a change of the quota, places every principal with dispatched jobs in the turn order again. There are at most as
-- many as the ready stream has entries.
local function follow_quota()
  local now, seen = quota(), {}
  if tonumber(call('HGET', CLOCK, 'quota') or -1) == now then return end
  call('HSET', CLOCK, 'quota', now)
  for _, entry in ipairs(call('XRANGE', READY, '-', '+')) do
    local principal = call('HGET', job_key(entry[2][2]), 'principal')
    if principal and not seen[principal] then line_up(principal) end
    seen[principal] = true
  end
end

-- Into the backlog: by priority (9 first), then by age; `at_front` goes before all priorities.
local function enqueue(id, job, at_front)
  local class = at_front and -1 or 9 - tonumber(job.priority)
  call('ZADD', backlog_key(job.principal), class * FRONT + tonumber(job.seq), id)
  line_up(job.principal)
end

-- A team is a job that several workers search for at once. Its owner claims the job; every other has a seat, which is named
-- <job>/<fence>.<number> and has no record: it waits, counts and is handed out like a job of the principal, for as long
-- as the claim lasts that asked for it. Returns the running job of a seat and its id; nil for a job, and for a seat that is over.
local function team_of(seat)
  local id, fence = seat:match('^(.+)/(%d+)%.%d+$')
  local job = id and read(id)
  if job and job.state == 'solving' and job.fence == fence and job.cancel == '' then return job, id end
end

local function each_seat(id, job, act)
  for number = 2, tonumber(job.seats or 1) do act(id .. '/' .. job.fence .. '.' .. number) end
end

-- What a principal is charged for a job without its team, and again for each seat.
local function cost_of(job) return tonumber(job.cpu_s) / tonumber(job.seats or 1) end

-- Dismisses the seats of a team; their workers learn it at once.
local function dismiss(id, job)
  if tonumber(job.seats or 1) == 1 then return end
  each_seat(id, job, function(seat) call('ZREM', backlog_key(job.principal), seat) end)
  alert(id)
end

-- Takes a job off the ready stream or the backlog, wherever it is.
local function release(id, job)
  if job.delivery ~= '' then
    pcall(call, 'XACK', READY, GROUP, job.delivery)
    call('XDEL', READY, job.delivery)
    write(id, job, { delivery = '' })
    call('SREM', out_key(job.principal), id)
    dismiss(id, job)
  else
    call('ZREM', backlog_key(job.principal), id)
  end
  line_up(job.principal)
end

-- Charges a job, once, however often it is dispatched. Returns the new place of its principal.
local function charge(principal, cpu_s, start)
  local place = start + cpu_s / weight(principal)
  clocked().v = start
  call('HSET', CLOCK, 'v', start)
  call('ZREMRANGEBYSCORE', CREDIT, '-inf', string.format('(%.17g', start))
  call('ZADD', CREDIT, place, principal)
  return place
end

-- Refunds what an ended job was charged and did not use; no principal falls behind the shard's virtual time.
local function refund(job)
  local credit = job.charged == '1' and call('ZSCORE', CREDIT, job.principal)
  if not credit then return end
  local used_s = math.max(START_S, (NOW_MS - tonumber(job.started_ms or NOW_MS)) / 1000 * LIMITS.cores)
  local unused_s = math.max(0, cost_of(job) - used_s) * (1 + tonumber(job.dealt or 0))
  local score = math.max(clocked().v, tonumber(credit) - unused_s / weight(job.principal))
  call('ZADD', CREDIT, score, job.principal)
  call('ZADD', TURN, 'XX', 'LT', score, job.principal)
end

-- Returns whether a job or a seat was dispatched.
local function hand_out(principal, start)
  local id = call('ZPOPMIN', backlog_key(principal))[1]
  local job, team
  if id then job, team = team_of(id) end
  job = job or id and read(id)
  if not job then
    call('ZREM', TURN, principal)
    if id then forget(id, principal) else line_up(principal) end
    return false
  end
  local place
  if job.charged == '1' and not team then call('ZREM', TURN, principal) else place = charge(principal, cost_of(job), start) end
  call('SADD', out_key(principal), id)
  outlive(out_key(principal))
  local delivery = call('XADD', READY, '*', 'job', id, 'principal', principal)
  if team then
    write(team, job, { dealt = tonumber(job.dealt or 0) + 1 })
  else
    write(id, job, { delivery = delivery, charged = '1' })
  end
  save(team or id)
  line_up(principal, place)
  return true
end

local function dispatch()
  local free = clocked().slots - call('XLEN', READY)
  while free > 0 do
    local next_turn = call('ZRANGE', TURN, 0, 0, 'WITHSCORES')
    if not next_turn[1] then return end
    if hand_out(next_turn[1], tonumber(next_turn[2])) then free = free - 1 end
  end
end
