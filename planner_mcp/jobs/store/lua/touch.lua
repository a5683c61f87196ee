-- Renews the expiry of a scenario or matrix; returns the newest job of a scenario, '' for none.
-- A: kind (scn or mat), id, principal, ttl_s
use(A.kind, A.id, A.principal, A.ttl_s)
return { 'ok', A.kind == 'scn' and last_job(call('HGET', scenario_key(A.id), 'job')) or '' }
