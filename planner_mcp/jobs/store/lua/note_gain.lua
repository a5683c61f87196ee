-- Notes the improvement of a job that a subscription was sent, unless something else was noted since it was read.
-- A: subscription, job, old ('' for nothing), new, life_ms
local key = P .. 'gain:' .. A.subscription .. ':' .. A.job
if (call('GET', key) or '') ~= A.old then return { 'changed' } end
call('SET', key, A.new, 'PX', A.life_ms)
return { 'ok' }
