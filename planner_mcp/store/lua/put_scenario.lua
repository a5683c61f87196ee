-- Keeps a scenario and gives it its life.
-- A: scenario, ttl_s; ARGV[2…]: fields and values
call('HSET', scenario_key(A.scenario), unpack(ARGV, 2))
call('EXPIRE', scenario_key(A.scenario), A.ttl_s)
return { 'ok' }
