-- With several pools: binds an explicit idempotency key to its arguments in the key's home pool, before the submit.
-- Answers `made` to the one call that bound it, as long as no other found it bound: only that call may release it.
-- A: principal, idem, digest, idem_s, job, binder_s
local name = A.principal .. ':' .. A.idem
local bound, binder = P .. 'bound:' .. name, P .. 'binder:' .. name
local digest = call('SET', bound, A.digest, 'NX', 'GET', 'EX', A.idem_s)
if not digest then
  call('SET', binder, A.job, 'EX', A.binder_s)
elseif digest ~= A.digest then
  return { 'conflict' }
elseif call('GET', binder) ~= A.job then -- else the same step, repeated
  call('DEL', binder)
  return { 'ok' }
end
return { 'made' }
