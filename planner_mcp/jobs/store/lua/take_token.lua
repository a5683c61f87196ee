-- Counts one request of a principal; returns the ms to wait when there were too many.
-- A: principal, rate (a second), burst
return { 'ok', take_token(P .. 'rate:' .. A.principal, A.rate, A.burst) }
