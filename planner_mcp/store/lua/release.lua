-- Takes a binding back whose submit was refused, if the call that made it is still the only one that relies on it.
-- A: principal, idem, job
local name = A.principal .. ':' .. A.idem
local bound, binder = P .. 'bound:' .. name, P .. 'binder:' .. name
if call('GET', binder) == A.job then call('DEL', bound, binder) end
return { 'ok' }
