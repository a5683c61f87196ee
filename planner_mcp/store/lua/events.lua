-- Shows a principal what happened to its job after a position, its state, and how many there were.
-- A: job, principal, after
local principal, state, count = unpack(call('HMGET', job_key(A.job), 'principal', 'state', 'events'))
if principal ~= A.principal then return { 'not_found' } end
return { 'ok', call('XRANGE', events_key(A.job), '(' .. A.after, '+'), state, count }
