-- Ends a job for its worker: complete, fail or cancel (settling one that was asked for).
-- A: job, fence, change, extra, progress, best, error, plan_id, summary; ARGV[2]: plan or ''
local job = held(A.job, A.fence)
if not job then
  local ended = read(A.job)
  local is_repeat = ended and tonumber(ended.fence) == A.fence and ended.asked == A.change
  return { is_repeat and 'ok' or 'lost' }
end
if A.progress ~= '' then write(A.job, job, { progress = A.progress, best = A.best }) end
keep_plan(A.job, job)
if A.error ~= '' and job.cancel == '' then write(A.job, job, { error = A.error }) end
write(A.job, job, { asked = A.change })
settle(A.job, job, A.change, A.extra)
dispatch()
return { 'ok' }
