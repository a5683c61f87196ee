-- Puts events of a principal, or reviews of what was proposed to a group, into the outbox from now on, for as long as a
-- subscription to them lasts.
-- A: principal (or group), kinds, life_ms
local key = watched_key(A.principal)
for _, kind in ipairs(A.kinds) do call('HSET', key, kind, 1) end
if call('PTTL', key) < A.life_ms then call('PEXPIRE', key, A.life_ms) end
return { 'ok' }
