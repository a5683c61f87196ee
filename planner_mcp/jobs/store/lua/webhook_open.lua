-- Makes the group of dispatchers, if it is not there.
pcall(call, 'XGROUP', 'CREATE', OUTBOX, 'couriers', '0', 'MKSTREAM') -- it exists already, all but once
return { 'ok' }
