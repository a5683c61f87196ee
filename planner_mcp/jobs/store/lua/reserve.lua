-- With several pools: binds an explicit idempotency key to its arguments in the key's home pool, before the submit.
-- A key with other arguments is a `conflict` while a call may be under way that was not refused. Later it is `doubtful`:
-- a conflict if the shard of that call, whose job is answered, knows the key; else these arguments are found void.
-- A: principal, idem, digest, idem_s, job, call_s, void (a digest that was found void, or '')
local name = A.principal .. ':' .. A.idem
local bound, calls = P .. 'bound:' .. name, P .. 'calls:' .. name
local digest = call('GET', bound)
if digest and digest ~= A.digest then
  local last = call('ZRANGE', calls, 0, 0, 'REV', 'WITHSCORES')
  if not last[1] or tonumber(last[2]) > NOW_MS then return { 'conflict' } end
  if digest ~= A.void then return { 'doubtful', digest, last[1] } end
end
call('SET', bound, A.digest, 'EX', A.idem_s)
call('ZREMRANGEBYSCORE', calls, '-inf', NOW_MS)
call('ZADD', calls, NOW_MS + A.call_s * 1000, A.job)
call('EXPIRE', calls, A.idem_s)
return { 'ok' }
