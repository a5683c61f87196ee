-- Extends a lease and returns the flags of the job. XCLAIM alone would take a job back from its next holder.
-- A: job, fence, delivery, worker
local job = held(A.job, A.fence)
if not job or job.delivery ~= A.delivery then return { 'lost' } end
local pending = call('XPENDING', READY, GROUP, A.delivery, A.delivery, 1)[1]
if not pending or pending[2] ~= A.worker then return { 'lost' } end
call('XCLAIM', READY, GROUP, A.worker, 0, A.delivery, 'JUSTID')
return { 'ok', job.cancel ~= '' and 1 or 0, job.finish ~= '' and 1 or 0 }
