-- Forgets dispatchers that left: consumers of the outbox that hold no entry and were not heard of for a while. One that
-- lives all the same is a consumer again with its next read.
-- A: silent_ms
for _, flat in ipairs(call('XINFO', 'CONSUMERS', OUTBOX, 'couriers')) do
  local consumer = table_of(flat)
  if consumer.pending == 0 and consumer.idle >= A.silent_ms then
    call('XGROUP', 'DELCONSUMER', OUTBOX, 'couriers', consumer.name)
  end
end
return { 'ok' }
