-- A worker gives a job back: crash (counted, poisoned at the limit) or hand_back (free).
-- A: job, fence, change, poison
local job = held(A.job, A.fence)
if not job then
  local now = read(A.job)
  if now and tonumber(now.fence) == A.fence and now.given == A.change then return { 'ok', now.state } end
  return { 'lost' }
end
write(A.job, job, { given = A.change })
put_back(A.job, job, A.change, A.poison)
dispatch()
return { 'ok', job.state }
