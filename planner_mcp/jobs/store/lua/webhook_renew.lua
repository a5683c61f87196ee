-- Extends the leases a dispatcher still holds, or with lease_ms 0 gives them back at once.
-- A: leases ("<delivery>/<fence>"), lease_ms
for _, lease in ipairs(A.leases) do call('ZADD', LEASES, 'XX', NOW + A.lease_ms, lease) end
lives(LEASES)
return { 'ok' }
