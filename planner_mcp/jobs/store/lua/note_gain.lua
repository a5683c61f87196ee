-- Notes the improvement of a job that a subscription was sent, unless something else was noted since it was read.
-- A: subscription, job, old ('' for nothing), new, life_ms
local key = P .. 'improved:' .. A.subscription .. ':' .. A.job
local noted = call('GET', key) or ''
if noted ~= A.old and noted ~= A.new then return { 'changed' } end -- A.new: the same step, repeated
call('SET', key, A.new, 'PX', A.life_ms)
return { 'ok' }
