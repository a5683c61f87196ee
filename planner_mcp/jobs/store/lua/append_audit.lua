-- Adds lines to the audit log of a day, which expires A.ttl_s after its last line.
local key = P .. 'audit:' .. A.date
for each = 2, #ARGV do
  call('XADD', key, '*', 'line', ARGV[each])
end
call('EXPIRE', key, A.ttl_s)
return { 'ok' }
