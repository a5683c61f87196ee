-- Asks a solving job to complete with its best plan. A terminal job stays as it is.
-- A: job, principal
local job = owned(A.job, A.principal)
if not job then return { 'not_found' } end
if job.state == 'queued' then return { 'illegal', 'A queued job has nothing to finish; cancel it instead.' } end
if job.state == 'solving' and job.finish == '' then
  write(A.job, job, { finish = '1' })
  save(A.job)
  alert(A.job)
end
return shown(A.job, job)
