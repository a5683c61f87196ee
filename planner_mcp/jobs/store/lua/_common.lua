-- Prefixed to every step: names of keys, the clock, reading a job, events and lives.
-- KEYS[1] is the hash tag of the shard ({p0}); every key a step touches starts with it, so all lie in one slot.
-- ARGV[1] holds the named arguments as JSON. LIMITS and MOVES are written in front of this text when it is loaded.
local call = redis.call
local P = KEYS[1] .. ':'
local A = cjson.decode(ARGV[1])

local CLOCK, READY, FEED, OUTBOX, CONTROL = P .. 'clock', P .. 'ready', P .. 'feed', P .. 'outbox', P .. 'control'
local QUEUED, SOLVING, TURN, CREDIT, WEIGHTS = P .. 'queued', P .. 'solving', P .. 'turn', P .. 'credit', P .. 'weights'
local ALIVE, SLOTS, GROUP = P .. 'alive', P .. 'slots', 'workers'
local MEASURED, VERSIONS = P .. 'measured', P .. 'versions'

local function job_key(id) return P .. 'job:' .. id end
local function events_key(id) return P .. 'ev:' .. id end
local function plan_key(id) return P .. 'plan:' .. id:gsub('^job', 'plan') end
local function team_key(id) return P .. 'team:' .. id end
local function scenario_key(id) return P .. 'scn:' .. id end
local function backlog_key(principal) return P .. 'bl:' .. principal end
local function out_key(principal) return P .. 'out:' .. principal end
local function ended_key(principal) return P .. 'ended:' .. principal end
local function watched_key(principal) return P .. 'watched:' .. principal end
local function index_key(principal, state) return P .. 'jobs:' .. principal .. (state and ':' .. state or '') end

local TIME = call('TIME')
local NOW_MS = TIME[1] * 1000 + math.floor(TIME[2] / 1000)

-- ISO 8601 in UTC; the day count follows the civil calendar from 0000-03-01.
local function iso(ms)
  local second = math.floor(ms / 1000)
  local z = math.floor(second / 86400) + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  local rest = second % 86400
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, doy - math.floor((153 * mp + 2) / 5) + 1,
    math.floor(rest / 3600), math.floor(rest / 60) % 60, rest % 60, ms % 1000)
end
local now_iso
local function at()
  now_iso = now_iso or iso(NOW_MS)
  return now_iso
end

local function table_of(flat)
  local found = {}
  for i = 1, #flat, 2 do found[flat[i]] = flat[i + 1] end
  return found
end

local function flat_of(fields)
  local flat = {}
  for name, value in pairs(fields) do
    flat[#flat + 1] = name
    flat[#flat + 1] = value
  end
  return flat
end

-- A job, or nil. It is read once in a step; changes of the step are made in this copy too.
local jobs = {}
local function read(id)
  if not jobs[id] then
    local flat = call('HGETALL', job_key(id))
    jobs[id] = flat[1] and table_of(flat) or nil
  end
  return jobs[id]
end

-- Changes a job. `save` writes all changes of a step at once, before any dispatch.
local unsaved = {}
local function write(id, job, fields)
  local changed = unsaved[id] or {}
  for name, value in pairs(fields) do
    job[name] = tostring(value)
    changed[name] = job[name]
  end
  unsaved[id] = changed
end

local function save(id)
  if unsaved[id] then call('HSET', job_key(id), unpack(flat_of(unsaved[id]))) end
  unsaved[id] = nil
end

local function owned(id, principal)
  local job = read(id)
  return job and job.principal == principal and job or nil
end

-- The reply about a job: its hash, its place in its principal's backlog when queued (else -1), its id.
local function shown(id, job)
  local place = -1
  if job.state == 'queued' then place = (call('ZRANK', backlog_key(job.principal), id) or 0) + 1 end
  return { 'ok', flat_of(job), place, id }
end

-- Keeps an index for at least `life_s` (default LIMITS.live_s) from each change. The expiry is renewed at most once in that
-- time, so most calls write nothing.
local function outlive(index, life_s)
  life_s = life_s or LIMITS.live_s
  if call('TTL', index) <= life_s then call('EXPIRE', index, 2 * life_s) end
end

-- Renews the expiry of a scenario or matrix at each use, and that of its principal's indexes.
local COUNTED = { scn = { 'scns:', 'scnx:', 'scnb:' }, mat = { 'mats:', 'roads:' } }
local function use(kind, id, principal, life_s)
  local key = P .. kind .. ':' .. id
  if call('PTTL', key) < life_s * 1000 then call('EXPIRE', key, life_s) end
  for _, name in ipairs(COUNTED[kind]) do outlive(P .. name .. principal, life_s) end
end

-- Saves a job and renews expiries. Until a job ends, all its keys are kept for LIMITS.live_s from its last change of state;
-- after its end they are kept for LIMITS.job_ttl_s.
local function keep(id, job)
  save(id)
  local is_over = job.finished_ms ~= nil
  local life_s = is_over and LIMITS.job_ttl_s or LIMITS.live_s
  call('EXPIRE', job_key(id), life_s)
  call('EXPIRE', events_key(id), life_s)
  if job.plan_id ~= '' then call('EXPIRE', plan_key(id), life_s) end
  if job.idem ~= '' and (not is_over or call('GET', job.idem) == id) then call('EXPIRE', job.idem, life_s) end
  local principal = job.principal
  if not is_over then use('scn', job.scenario_id, principal, life_s) end
  outlive(index_key(principal))
  outlive(index_key(principal, job.state))
  outlive(is_over and ended_key(principal) or backlog_key(principal))
end

-- The newest job of a scenario, or false when that job has expired.
local function last_job(id) return id and call('EXISTS', job_key(id)) == 1 and id end

-- The reply of a step that lists: how many an index has, and a page of it, newest first; or `again` when it has more expired
-- entries than one step may remove. A.look is the name of the function in `looks` that makes a row.
local AT_ONCE = 500
local function page(index, looks)
  local found, position, gone = {}, A.offset, 0
  while #found < A.count do
    local id = call('ZRANGE', index, position, position, 'REV')[1]
    if not id then break end
    local one = looks[A.look](id)
    if one then
      found[#found + 1] = one
      position = position + 1
    else
      call('ZREM', index, id)
      gone = gone + 1
      if gone == AT_ONCE then return { 'again' } end
    end
  end
  return { 'ok', call('ZCARD', index), found }
end

-- Counts a duration in a histogram (jobs/records/measurements.py): one field for each bound, one for the sum.
local function observe(name, label, ms)
  ms = math.max(0, math.floor(ms))
  local bucket = 'inf'
  for _, bound in ipairs(BOUNDS_MS) do
    if ms <= bound then
      bucket = bound
      break
    end
  end
  local prefix = name .. '/' .. label .. '/'
  call('HINCRBY', MEASURED, prefix .. bucket, 1)
  call('HINCRBY', MEASURED, prefix .. 'sum', ms)
end

-- JSON text of an object from its first members and the text of another object.
local function joined(head, object)
  return '{' .. head .. (object == '{}' and '}' or ',' .. object:sub(2))
end

-- One event: into the job's own stream (the order that counts), into the shard's feed (what replicas listen to), and into
-- the outbox where its principal, or the group its plan was proposed to, subscribed to events of this kind. `is_change`: the
-- state or the best cost has changed.
local function emit(id, job, kind, extra, is_change)
  local number = tonumber(job.events) + 1
  local data = joined('"status":"' .. job.state:upper() .. '","progress":' .. job.percent, extra)
  local event = call('XADD', events_key(id), 'MAXLEN', '~', LIMITS.events_kept, '*',
    'kind', kind, 'at', at(), 'number', number, 'data', data)
  local group = job.group or ''
  local entry = { 'job', id, 'principal', job.principal, 'group', group, 'scenario', job.scenario_id,
    'name', job.name or '', 'id', event, 'kind', kind, 'at', at(), 'number', number, 'data', data,
    'change', is_change and '1' or '' }
  call('XADD', FEED, 'MAXLEN', '~', LIMITS.feed_kept, '*', unpack(entry))
  if call('HEXISTS', watched_key(job.principal), kind) == 1
    or group ~= '' and call('HEXISTS', watched_key(group), kind) == 1 then
    call('XADD', OUTBOX, '*', 'confidential', job.confidential or '', unpack(entry))
  end
  write(id, job, { events = number, event_id = event, changed_id = is_change and event or job.changed_id })
  return event, data
end

-- Has workers look at a job at once: its flags have changed, or it is over for its team.
local function alert(id)
  call('XADD', CONTROL, 'MAXLEN', '~', 1000, '*', 'job', id)
  call('EXPIRE', CONTROL, LIMITS.control_s)
end

-- Changes the state by the table of jobs/job_lifecycle.py and updates the indexes; nil when the table forbids it.
local function move(id, job, change)
  local from, target = job.state, MOVES[job.state .. ':' .. change]
  if not target then return nil end
  if target ~= from then
    call('ZREM', index_key(job.principal, from), id)
    call('ZADD', index_key(job.principal, target), job.seq, id)
    if from == 'queued' then call('ZREM', QUEUED, id) elseif from == 'solving' then call('ZREM', SOLVING, id) end
    if target == 'queued' then call('ZADD', QUEUED, NOW_MS, id) elseif target == 'solving' then call('ZADD', SOLVING, NOW_MS, id) end
    write(id, job, { state = target })
  end
  return target
end

-- Takes a token from a bucket of `burst` tokens, refilled at `rate` a second; returns the ms to wait when it is empty.
local function take_token(key, rate, burst)
  local kept = call('HMGET', key, 'tokens', 'at_ms')
  local since_ms = NOW_MS - (tonumber(kept[2]) or NOW_MS)
  local tokens = math.min(burst, (tonumber(kept[1]) or burst) + math.max(0, since_ms) * rate / 1000)
  local wait_ms = 0
  if tokens >= 1 then tokens = tokens - 1 else wait_ms = math.ceil((1 - tokens) * 1000 / rate) end
  call('HSET', key, 'tokens', tokens, 'at_ms', NOW_MS)
  call('PEXPIRE', key, math.ceil(burst * 1000 / rate) + 1000)
  return wait_ms
end

-- Amortized clearing: removes a few expired jobs of a principal from the indexes. Returns how many.
local function forget_expired(principal, count)
  local ids = call('ZRANGEBYSCORE', ended_key(principal), '-inf', NOW_MS, 'LIMIT', 0, count)
  if not ids[1] then return 0 end
  call('ZREM', ended_key(principal), unpack(ids))
  call('ZREM', index_key(principal), unpack(ids))
  for _, state in ipairs({ 'completed', 'failed', 'cancelled' }) do call('ZREM', index_key(principal, state), unpack(ids)) end
  return #ids
end
