-- Shows jobs of a principal, newest first, and how many there are.
-- A: principal, state ('' for all), offset, count
forget_expired(A.principal, 100)
local index = index_key(A.principal, A.state ~= '' and A.state or nil)
local found, position = {}, A.offset
while #found < A.count do
  local id = call('ZRANGE', index, position, position, 'REV')[1]
  if not id then break end
  local job = read(id)
  if job then
    found[#found + 1] = shown(id, job)
    position = position + 1
  else
    call('ZREM', index, id)
  end
end
return { 'ok', call('ZCARD', index), found }
