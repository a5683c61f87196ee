-- Cancels: a queued job at once, a solving one by a flag and an entry in the control stream. A terminal job stays as it is.
-- From then on the same call makes a new job: this one can only end cancelled.
-- A: job, principal, keep ('keep' or 'drop')
local job = owned(A.job, A.principal)
if not job then return { 'not_found' } end
if job.state == 'queued' then
  write(A.job, job, { cancel = A.keep })
  settle(A.job, job, 'cancel', '{}')
  dispatch()
elseif job.state == 'solving' and job.cancel == '' then
  write(A.job, job, { cancel = A.keep })
  save(A.job)
  answer_no_more(A.job, job)
  alert(A.job)
end
return shown(A.job, job)
