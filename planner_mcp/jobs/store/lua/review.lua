-- Takes a step in the review of a plan, by the table of jobs/plan_review.py: state, event and outbox entry in one.
-- A: job, principal, group (whose proposed plans the caller may review, '' for none but its own), step, reason,
--    proposed_to (the group that may see the plan from now on), four_eyes
local job = read(A.job)
local is_owner = job and job.principal == A.principal
if not is_owner and not (job and A.group ~= '' and job.group == A.group) then return { 'not_found' } end
if not job.finished_ms then return { 'unready', job.state } end
if job.plan_id == '' then return { 'planless', job.state } end

local root = root_of(job.scenario_id)
local state, approved = job.review or 'draft', approved_job(root)
local is_same_base = not approved or approved == A.job or approved == job.base
local is_repeat = job.review_step == A.step and job.reviewer == A.principal
if is_repeat and (A.step ~= 'propose' or is_same_base) then return shown(A.job, job) end

local target = REVIEWS[state .. ':' .. A.step]
if not target then return { 'illegal', state } end
if A.four_eyes and is_owner and (A.step == 'approve' or A.step == 'reject') then return { 'same', state } end
if A.step == 'approve' and not is_same_base or A.step == 'publish' and approved ~= A.job then
  return { 'stale', state, approved or '' }
end

local changes = { review = target, review_step = A.step, reviewer = A.principal, review_reason = A.reason }
if A.step == 'propose' then
  changes.base, changes.group, changes.proposed_ms = approved or '', A.proposed_to, NOW_MS
  changes.reviewed_ms = ''
  if call('EXISTS', scenario_key(job.scenario_id)) == 1 then
    call('HSET', scenario_key(job.scenario_id), 'group', A.proposed_to)
  end
elseif A.step == 'publish' then
  changes.published_ms = NOW_MS
else
  changes.reviewed_ms = NOW_MS
end
write(A.job, job, changes)
-- Plans that wait for review: of their owner, and of those they were proposed to.
for _, reader in ipairs({ job.principal, job.group }) do
  if reader ~= '' then
    local waiting = index_key(reader, 'proposed')
    if target == 'proposed' then
      call('ZADD', waiting, job.seq, A.job)
      outlive(waiting)
    else
      call('ZREM', waiting, A.job)
    end
  end
end
if A.step == 'approve' and call('EXISTS', scenario_key(root)) == 1 then
  call('HSET', scenario_key(root), 'approved', A.job)
end

local function detail()
  local review = { state = target }
  if A.reason ~= '' then review.reason = A.reason end
  if job.base ~= '' then review.differs_from = job.base:gsub('^job', 'plan') end
  return '{"plan_id":"' .. job.plan_id .. '","review":' .. cjson.encode(review) .. ',"summary":' .. job.summary .. '}'
end
local kind = 'plan.' .. target
local event, data = emit(A.job, job, kind, detail(), true)
post(A.job, job, event, data, kind)
call('ZADD', ended_key(job.principal), NOW_MS + LIMITS.job_ttl_s * 1000, A.job)
keep(A.job, job)
return shown(A.job, job)
