-- Which job goes next. Ready entries never outnumber the slots of living workers, so the stream's FIFO harms nobody.
-- Fair sharing is start-time fair queueing: a principal's turn is its virtual time, which each job dispatched moves on
-- by its estimated CPU seconds over the principal's weight. `clock.v` is the pool's virtual time.
local FRONT = 2 ^ 45
local START_S = 0.01 -- the least a job is charged: with nothing, whoever asks for nothing would always be next

local function virtual_now() return tonumber(call('HGET', CLOCK, 'v') or 0) end

-- How many jobs of one principal may be handed out: its quota, and no more than its share of the slots there are.
local function quota()
  if LIMITS.max_share >= 1 then return LIMITS.max_solving end
  local slots = tonumber(call('HGET', CLOCK, 'slots') or 0)
  return math.min(LIMITS.max_solving, math.max(1, math.floor(LIMITS.max_share * slots)))
end

-- A principal stands in the turn exactly while it has a backlog and is below its quota of jobs handed out.
local function line_up(principal)
  if call('ZCARD', backlog_key(principal)) == 0 or call('SCARD', out_key(principal)) >= quota() then
    call('ZREM', TURN, principal)
  elseif not call('ZSCORE', TURN, principal) then
    call('ZADD', TURN, math.max(tonumber(call('ZSCORE', CREDIT, principal) or 0), virtual_now()), principal)
  end
end

-- Into the backlog: by priority (9 first), then by age; `at_front` goes before all priorities.
local function enqueue(id, job, at_front)
  local class = at_front and -1 or 9 - tonumber(job.priority)
  call('ZADD', backlog_key(job.principal), class * FRONT + tonumber(job.seq), id)
  line_up(job.principal)
end

-- Takes a job off the ready stream or the backlog, wherever it is.
local function release(id, job)
  if job.delivery ~= '' then
    pcall(call, 'XACK', READY, GROUP, job.delivery)
    call('XDEL', READY, job.delivery)
    write(id, job, { delivery = '' })
  end
  call('SREM', out_key(job.principal), id)
  call('ZREM', backlog_key(job.principal), id)
  line_up(job.principal)
end

-- A job is charged once, however often it has to be handed out again.
local function charge(principal, cpu_s, start)
  local weight = tonumber(call('HGET', WEIGHTS, principal) or 1)
  call('HSET', CLOCK, 'v', start)
  call('ZREMRANGEBYSCORE', CREDIT, '-inf', string.format('(%.17g', start))
  call('ZADD', CREDIT, start + cpu_s / weight, principal)
end

-- Gives back what a job that is over was charged and did not use, though nobody falls behind the pool's virtual time.
local function refund(job)
  local credit = job.charged == '1' and call('ZSCORE', CREDIT, job.principal)
  if not credit then return end
  local used_s = math.max(START_S, (NOW_MS - tonumber(job.started_ms or NOW_MS)) / 1000 * LIMITS.cores)
  local unused_s = math.max(0, tonumber(job.cpu_s) - used_s)
  local weight = tonumber(call('HGET', WEIGHTS, job.principal) or 1)
  local score = math.max(virtual_now(), tonumber(credit) - unused_s / weight)
  call('ZADD', CREDIT, score, job.principal)
  call('ZADD', TURN, 'XX', 'LT', score, job.principal)
end

local function hand_out(principal, start)
  local id = call('ZPOPMIN', backlog_key(principal))[1]
  call('ZREM', TURN, principal)
  local cpu_s, charged = unpack(id and call('HMGET', job_key(id), 'cpu_s', 'charged') or {})
  if cpu_s then
    call('HSET', job_key(id), 'delivery', call('XADD', READY, '*', 'job', id), 'charged', '1')
    call('SADD', out_key(principal), id)
    call('EXPIRE', out_key(principal), LIMITS.live_s)
    if charged ~= '1' then charge(principal, tonumber(cpu_s), start) end
  end
  line_up(principal)
end

local function dispatch()
  local slots = tonumber(call('HGET', CLOCK, 'slots') or 0)
  while call('XLEN', READY) < slots do
    local next_turn = call('ZRANGE', TURN, 0, 0, 'WITHSCORES')
    if not next_turn[1] then return end
    hand_out(next_turn[1], tonumber(next_turn[2]))
  end
end
