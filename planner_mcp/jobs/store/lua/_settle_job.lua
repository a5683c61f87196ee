-- How a job leaves a worker: for good (settle) or back into the queue (put_back).

local function final_extra(id, job, extra)
  local kept = job.plan_id ~= '' and '"plan_id":"' .. job.plan_id .. '","summary":' .. job.summary or nil
  if job.state == 'cancelled' then
    return joined('"cancelled_at":"' .. at() .. '"' .. (kept and ',' .. kept or ''), extra)
  elseif job.state == 'failed' and kept then
    return joined(kept, extra)
  end
  return extra
end

local function post(id, job, event, data, kind)
  if job.url == '' then return end
  local text = '{"id":"' .. event .. '","job_id":"' .. id .. '","kind":"' .. kind .. '","at":"' .. at()
    .. '","data":' .. data .. '}'
  local masked = job.confidential == '1' and job.masked or ''
  call('XADD', OUTBOX, '*', 'masked', masked, 'delivery_id', id .. ':' .. event, 'principal', job.principal, 'url', job.url, 'event', text)
end

-- Keeps a plan that a worker sends (ARGV[2], or '' for none), and counts the time to the first one of its job.
local function keep_plan(id, job)
  if ARGV[2] == '' then return end
  if job.plan_id == '' and job.started_ms then observe('first_plan', '', NOW_MS - job.started_ms) end
  call('SET', plan_key(id), ARGV[2], 'EX', LIMITS.live_s)
  write(id, job, { plan_id = A.plan_id, summary = A.summary })
end

-- Lets the same call make a new job. (An explicit key still returns this one.)
local function answer_no_more(id, job)
  if job.idem ~= '' and call('GET', job.idem) == id then call('DEL', job.idem) end
end

local function drop_plan(id, job)
  call('DEL', plan_key(id))
  write(id, job, { plan_id = '', summary = '' })
end

-- Ends a job: state, event, outbox entry, indexes and lives in one. `extra` is the text of further event data.
-- A job whose cancel was accepted ends cancelled, whatever its worker reports.
local function settle(id, job, change, extra)
  if job.cancel ~= '' then change, extra = 'cancel', '{}' end
  if not move(id, job, change) then return false end
  if change == 'cancel' and job.cancel == 'drop' then drop_plan(id, job) end
  refund(job)
  release(id, job)
  if job.seats then call('DEL', team_key(id)) end
  if change == 'complete' then job.percent = '100' end
  write(id, job, { percent = job.percent, finished_ms = NOW_MS, settled = change })
  if job.started_ms then observe('job_duration', job.state, NOW_MS - job.started_ms) end
  local event, data = emit(id, job, job.state, final_extra(id, job, extra), true)
  post(id, job, event, data, job.state)
  if change ~= 'complete' then answer_no_more(id, job) end
  call('ZADD', ended_key(job.principal), NOW_MS + LIMITS.job_ttl_s * 1000, id)
  keep(id, job)
  return true
end

-- Queues a job again, at the front. Crashes are counted; the last one allowed ends the job failed with the error `poison`.
local function put_back(id, job, change, poison)
  if job.cancel ~= '' then return settle(id, job, 'cancel', '{}') end
  if change == 'crash' then
    write(id, job, { crashes = tonumber(job.crashes) + 1 })
    if tonumber(job.crashes) >= LIMITS.max_crashes then
      write(id, job, { error = poison })
      return settle(id, job, 'fail', '{"error":' .. poison .. '}')
    end
  end
  if not move(id, job, change) then return false end
  release(id, job)
  write(id, job, { worker = '' })
  enqueue(id, job, true)
  emit(id, job, 'requeued', '{"reason":"' .. change .. '","crashes":' .. job.crashes .. '}', true)
  keep(id, job)
  return true
end

-- The job that a worker holds, or nil when its claim is not the last one or the job was taken from it.
local function held(id, fence)
  local job = read(id)
  return job and tonumber(job.fence) == fence and job.state == 'solving' and job or nil
end
