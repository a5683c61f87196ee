-- Shows jobs of a principal, newest first, and how many there are; or answers `again` while more of them are gone than
-- one step may clear: others wait for it.
-- A: principal, state ('' for all), offset, count
if forget_expired(A.principal, AT_ONCE) == AT_ONCE then return { 'again' } end
local index = index_key(A.principal, A.state ~= '' and A.state or nil)
local found = page(index, A.offset, A.count, function(id)
  local job = read(id)
  return job and shown(id, job)
end)
if not found then return { 'again' } end
return { 'ok', call('ZCARD', index), found }
