-- Notes that the submit of a call was refused: its key may be bound to other arguments, unless another call relies on it.
-- A: principal, idem, job
call('ZADD', P .. 'calls:' .. A.principal .. ':' .. A.idem, 'XX', 0, A.job)
return { 'ok' }
