-- Shows a job to its principal.
-- A: job, principal
local job = owned(A.job, A.principal)
if not job then return { 'not_found' } end
return shown(A.job, job)
