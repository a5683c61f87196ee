-- Takes the next job for a worker. What was delivered to the worker and is not among what it holds comes first: a
-- delivery it waited for, or a claim whose answer was lost; its lease begins anew.
-- A: worker, held (deliveries), missing (the error of a job whose scenario is gone)
local held = {}
for _, delivery in ipairs(A.held) do held[delivery] = true end

local function unclaimed(worker)
  for _, pending in ipairs(call('XPENDING', READY, GROUP, '-', '+', #A.held + 1, worker)) do
    if not held[pending[1]] then
      call('XCLAIM', READY, GROUP, worker, 0, pending[1], 'JUSTID')
      return pending[1], named(call('XRANGE', READY, pending[1], pending[1])[1])
    end
  end
  return deliver(worker)
end

if call('EXISTS', READY) == 0 then return { 'none' } end
return take(A.worker, A.missing, unclaimed)
