-- Keeps a scenario or a matrix of a principal for another life.
-- A: kind (scn or mat), id, principal, ttl_s
use(A.kind, A.id, A.principal, A.ttl_s)
return { 'ok' }
