-- Finds a principal's deliveries in one state among the next so many, newest first.
-- A: principal, state, from (deliveries that were looked at), count
local seen, found = call('ZREVRANGE', all_key(A.principal), A.from, A.from + A.count - 1, 'WITHSCORES'), {}
for place = 1, #seen, 2 do
  if call('HGET', delivery_key(seen[place]), 'state') == A.state then
    found[#found + 1] = seen[place]
    found[#found + 1] = seen[place + 1]
  end
end
return { 'ok', found, #seen / 2 }
