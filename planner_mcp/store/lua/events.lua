-- Shows a principal what happened to its job after a position.
-- A: job, principal, after
if call('HGET', job_key(A.job), 'principal') ~= A.principal then return { 'not_found' } end
return { 'ok', call('XRANGE', events_key(A.job), '(' .. A.after, '+') }
