-- Shows scenarios of a principal without their bodies, newest first, and how many there are.
-- A: principal, offset, count
local index = P .. 'scns:' .. A.principal
local found, position = {}, A.offset
while #found < A.count do
  local id = call('ZRANGE', index, position, position, 'REV')[1]
  if not id then break end
  local card = call('HMGET', scenario_key(id), 'id', 'name', 'created_ms', 'revision', 'parent_id', 'job')
  if card[1] then
    found[#found + 1] = card
    position = position + 1
  else
    call('ZREM', index, id)
  end
end
return { 'ok', call('ZCARD', index), found }
