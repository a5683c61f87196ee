-- Adds a line to the audit log of a day, which lives on for A.ttl_s from its last line.
local key = P .. 'audit:' .. A.date
local id = call('XADD', key, '*', 'line', ARGV[2])
call('EXPIRE', key, A.ttl_s)
return { 'ok', id }
