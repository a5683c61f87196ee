-- Sets fields of a hash, and how long the hash lives from now. A: key, life_ms, is_least (a longer life stays);
-- ARGV[2…]: fields, values
call('HSET', A.key, unpack(ARGV, 2))
if not A.is_least or call('PTTL', A.key) < A.life_ms then call('PEXPIRE', A.key, A.life_ms) end
return { 'ok' }
