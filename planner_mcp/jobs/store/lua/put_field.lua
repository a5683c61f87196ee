-- Sets a field of a hash, and how long the hash lives from now. A: key, life_ms, is_least (a longer life stays);
-- ARGV[2], ARGV[3]: field, value
call('HSET', A.key, ARGV[2], ARGV[3])
if not A.is_least or call('PTTL', A.key) < A.life_ms then call('PEXPIRE', A.key, A.life_ms) end
return { 'ok' }
