-- Records progress and, with a better plan, the checkpoint. Repeating a report writes no second event.
-- A: job, fence, percent, progress, best (penalty and cost as text), extra, summary; ARGV[2]: plan or ''
local job = held(A.job, A.fence)
if not job then return { 'lost' } end
local is_reported = job.progress == A.progress and (ARGV[2] == '' or call('GET', plan_key(A.job)) == ARGV[2])
if is_reported then return { 'ok' } end

local is_better = job.best ~= A.best
job.percent = tostring(math.max(tonumber(job.percent), math.min(99, A.percent)))
write(A.job, job, { percent = job.percent, progress = A.progress, best = A.best })
keep_plan(A.job, job)
move(A.job, job, 'improve')
emit(A.job, job, 'progress', A.extra, is_better)
save(A.job)
return { 'ok' }
