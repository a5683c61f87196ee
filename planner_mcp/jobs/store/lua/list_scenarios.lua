-- Shows scenarios of a principal without their bodies, newest first, and how many there are; or answers `again` while more
-- of them are gone than one step may clear.
-- A: principal, look (`rows`, or `ages`: when they were made, in ms), offset, count
local index = P .. 'scns:' .. A.principal
local looks = {}
function looks.ages(id) return call('HGET', scenario_key(id), 'created_ms') end
function looks.rows(id)
  local card = call('HMGET', scenario_key(id), 'id', 'name', 'created_ms', 'revision', 'parent_id', 'job', 'date')
  card[6] = last_job(card[6])
  return card[1] and card
end
return page(index, looks)
