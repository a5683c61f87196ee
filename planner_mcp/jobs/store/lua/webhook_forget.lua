-- Forgets dispatchers that left: consumers of the outbox that hold no entry and were not heard of for a while. One that
-- lives all the same is a consumer again with its next read.
-- A: silent_ms
for _, flat in ipairs(call('XINFO', 'CONSUMERS', OUTBOX, 'couriers')) do
  local courier = table_of(flat)
  if courier.pending == 0 and courier.idle >= A.silent_ms then
    call('XGROUP', 'DELCONSUMER', OUTBOX, 'couriers', courier.name)
  end
end
return { 'ok' }
