-- Counts one request of a principal; answers how many ms to wait when it made too many.
-- A: principal, rate (a second), burst
return { 'ok', take_token(P .. 'rate:' .. A.principal, A.rate, A.burst) }
