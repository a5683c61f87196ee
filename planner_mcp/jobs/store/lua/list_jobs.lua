-- Shows jobs of a principal, newest first, and how many there are; or answers `again` while more of them are gone than
-- one step may clear: others wait for it.
-- A: principal, state ('' for all), look (`rows`, or `ages`: when they were submitted, in ms), offset, count
if forget_expired(A.principal, AT_ONCE) == AT_ONCE then return { 'again' } end
local index = index_key(A.principal, A.state ~= '' and A.state or nil)
local looks = {}
function looks.ages(id) return call('HGET', job_key(id), 'submitted_ms') end
function looks.rows(id)
  local job = read(id)
  return job and shown(id, job)
end
return page(index, looks)
