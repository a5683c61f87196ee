-- Shows a principal what happened to its job after a position, its state, how many events there were, and the number of
-- the last one up to the position: 0 when none of those is kept, so that the caller can see whether any is missing.
-- A: job, principal, after
local principal, state, count = unpack(call('HMGET', job_key(A.job), 'principal', 'state', 'events'))
if principal ~= A.principal then return { 'not_found' } end
local after = A.after:find('-') and A.after or A.after .. '-0'
local seen = call('XREVRANGE', events_key(A.job), after, '-', 'COUNT', 1)[1]
local number = seen and table_of(seen[2]).number or 0
return { 'ok', call('XRANGE', events_key(A.job), '(' .. after, '+'), state, count, number }
