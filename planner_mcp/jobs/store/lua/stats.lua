-- The queue at a glance. Slots are counted of those alive: `clock.slots` stays as it is when nobody is left to renew it.
local alive = roll_call()
local slots = 0
for _, worker in ipairs(alive) do slots = slots + tonumber(call('HGET', SLOTS, worker) or 0) end
return { 'ok', call('ZCARD', QUEUED), call('ZCARD', SOLVING), #alive, slots }
