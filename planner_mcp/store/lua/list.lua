-- Shows jobs of a principal, newest first, and how many there are; or answers `again` while more of them are gone than
-- one step may clear: others wait for it.
-- A: principal, state ('' for all), offset, count
local AT_ONCE = 500
if forget_expired(A.principal, AT_ONCE) == AT_ONCE then return { 'again' } end
local index = index_key(A.principal, A.state ~= '' and A.state or nil)
local found, position, gone = {}, A.offset, 0
while #found < A.count do
  local id = call('ZRANGE', index, position, position, 'REV')[1]
  if not id then break end
  local job = read(id)
  if job then
    found[#found + 1] = shown(id, job)
    position = position + 1
  else
    call('ZREM', index, id)
    gone = gone + 1
    if gone == AT_ONCE then return { 'again' } end
  end
end
return { 'ok', call('ZCARD', index), found }
