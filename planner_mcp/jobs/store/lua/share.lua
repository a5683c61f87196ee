-- Returns which generation of share links of a job's plan is valid; `revoke` ends those there are by beginning the next.
-- A: job, principal, revoke
local job = owned(A.job, A.principal)
if not job then return { 'not_found' } end
if A.revoke then call('HINCRBY', job_key(A.job), 'shares', 1) end
return { 'ok', tonumber(call('HGET', job_key(A.job), 'shares') or 0) }
