-- With several pools: binds an explicit idempotency key to its arguments in the key's home pool, before the submit.
-- A: principal, idem, digest, idem_s
local key = P .. 'bound:' .. A.principal .. ':' .. A.idem
local digest = call('SET', key, A.digest, 'NX', 'GET', 'EX', A.idem_s) or A.digest
return { digest == A.digest and 'ok' or 'conflict' }
