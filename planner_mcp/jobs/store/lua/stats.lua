-- Figures of the queue. Slots are summed over living workers, because `clock.slots` is stale when no worker is left.
local alive = roll_call()
local slots = 0
for _, worker in ipairs(alive) do slots = slots + tonumber(call('HGET', SLOTS, worker) or 0) end
return { 'ok', call('ZCARD', QUEUED), call('ZCARD', SOLVING), #alive, slots }
