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

-- Returns the numbers of the seats that exchanged within a lease, as text. A seat that leaves is gone at once.
local function seats_there(job)
  local there, own = {}, A.seat:match('%d+$')
  if own then
    call('HSET', team_key(A.job), 'seen:' .. own, A.leaves and 0 or NOW_MS)
    call('EXPIRE', team_key(A.job), LIMITS.live_s)
  end
  for number = 2, tonumber(job.seats or 1) do
    local seen_ms = call('HGET', team_key(A.job), 'seen:' .. number)
    if seen_ms and tonumber(seen_ms) > NOW_MS - LIMITS.lease_ms then there[#there + 1] = number end
  end
  return table.concat(there, ' ')
end

local job = held(A.job, A.fence)
local plan = job and swap(job)
local seats = job and seats_there(job)
if A.seat == '' then return job and { 'ok', plan, seats } or { 'lost' } end
local pending = call('XPENDING', READY, GROUP, A.delivery, A.delivery, 1)[1]
local is_mine = pending and pending[2] == A.worker
if is_mine and (A.leaves or not job or job.cancel ~= '') then
  discard(A.delivery, A.seat, A.principal)
  dispatch()
elseif is_mine then
  call('XCLAIM', READY, GROUP, A.worker, 0, A.delivery, 'JUSTID')
  return { 'ok', plan, seats }
end
return { 'lost' }
