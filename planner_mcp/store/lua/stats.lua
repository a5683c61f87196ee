-- The queue at a glance.
return { 'ok', call('ZCARD', QUEUED), call('ZCARD', SOLVING), call('ZCOUNT', ALIVE, NOW_MS - 3 * LIMITS.lease_ms, '+inf'),
  tonumber(call('HGET', CLOCK, 'slots') or 0) }
