-- A member of a team offers its best plan and gets the team's, where that is better. A seat renews its lease thereby. It has
-- to leave when the job is over, and leaves when it says so.
-- A: job, fence, best (penalty and cost of its plan as text, or ''), seat ('' for the owner), principal, delivery, worker, leaves;
-- ARGV[2]: the plan of a seat where it is new, else ''
local function is_better(one, other)
  local penalty, cost = one:match('^(%S+) (%S+)$')
  local other_penalty, other_cost = other:match('^(%S+) (%S+)$')
  if not penalty or not other_penalty then return penalty ~= nil and not other_penalty end
  penalty, other_penalty = tonumber(penalty), tonumber(other_penalty)
  return penalty < other_penalty or penalty == other_penalty and tonumber(cost) < tonumber(other_cost)
end

local function swap(job)
  local best, place = job.best, plan_key(A.job)
  local of_seats = call('HGET', team_key(A.job), 'best') or ''
  if is_better(of_seats, best) then best, place = of_seats, nil end
  if ARGV[2] ~= '' and is_better(A.best, best) then
    call('HSET', team_key(A.job), 'best', A.best, 'plan', ARGV[2])
    call('EXPIRE', team_key(A.job), LIMITS.live_s)
  elseif is_better(best, A.best) then
    return (place and call('GET', place) or not place and call('HGET', team_key(A.job), 'plan')) or ''
  end
  return ''
end

local job = held(A.job, A.fence)
local plan = job and swap(job)
if A.seat == '' then return job and { 'ok', plan } or { 'lost' } end
local pending = call('XPENDING', READY, GROUP, A.delivery, A.delivery, 1)[1]
local is_mine = pending and pending[2] == A.worker
if is_mine and (A.leaves or not job or job.cancel ~= '') then
  discard(A.delivery, A.seat, A.principal)
  dispatch()
elseif is_mine then
  call('XCLAIM', READY, GROUP, A.worker, 0, A.delivery, 'JUSTID')
  return { 'ok', plan }
end
return { 'lost' }
