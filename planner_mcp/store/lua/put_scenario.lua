-- Keeps a scenario, gives it its life, and lists it among its principal's newest.
-- A: scenario, principal, ttl_s, listed (how many are listed); ARGV[2…]: fields and values
call('HSET', scenario_key(A.scenario), unpack(ARGV, 2))
call('EXPIRE', scenario_key(A.scenario), A.ttl_s)
local index = P .. 'scns:' .. A.principal
call('ZADD', index, NOW_MS, A.scenario)
call('ZREMRANGEBYRANK', index, 0, -A.listed - 1)
call('EXPIRE', index, A.ttl_s)
return { 'ok' }
