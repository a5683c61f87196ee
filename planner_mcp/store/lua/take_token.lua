-- Takes one token from a principal's bucket (A.rate a second flow in, A.burst fit); answers how many ms to wait for one
-- when it is empty.
local key = P .. 'rate:' .. A.principal
local kept = call('HMGET', key, 'tokens', 'at_ms')
local since_ms = NOW_MS - (tonumber(kept[2]) or NOW_MS)
local tokens = math.min(A.burst, (tonumber(kept[1]) or A.burst) + math.max(0, since_ms) * A.rate / 1000)
local wait_ms = 0
if tokens >= 1 then tokens = tokens - 1 else wait_ms = math.ceil((1 - tokens) * 1000 / A.rate) end
call('HSET', key, 'tokens', tokens, 'at_ms', NOW_MS)
call('PEXPIRE', key, math.ceil(A.burst * 1000 / A.rate) + 1000)
return { 'ok', wait_ms }
