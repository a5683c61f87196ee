-- Keeps a part of tables of travel that are on their way, for a short life. A: parts, life_s; ARGV[2…]: field, value
local parts = P .. 'matp:' .. A.parts
call('HSET', parts, unpack(ARGV, 2))
call('EXPIRE', parts, A.life_s)
return { 'ok' }
