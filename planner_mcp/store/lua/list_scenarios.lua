-- Shows scenarios of a principal without their bodies, newest first, and how many there are; or answers `again` while more
-- of them are gone than one step may clear.
-- A: principal, offset, count
local index = P .. 'scns:' .. A.principal
local found = page(index, A.offset, A.count, function(id)
  local card = call('HMGET', scenario_key(id), 'id', 'name', 'created_ms', 'revision', 'parent_id', 'job')
  return card[1] and card
end)
if not found then return { 'again' } end
return { 'ok', call('ZCARD', index), found }
