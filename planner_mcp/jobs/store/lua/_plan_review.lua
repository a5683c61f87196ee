-- What the steps about reviews share: the day of a scenario, and the plan that was approved for it.

-- The first of a line of revisions, as far as they are kept and belong to one principal.
local function root_of(scenario)
  for _ = 1, 100 do
    local parent, owner = unpack(call('HMGET', scenario_key(scenario), 'parent_id', 'principal'))
    if not parent or parent == '' or call('HGET', scenario_key(parent), 'principal') ~= owner then return scenario end
    scenario = parent
  end
  return scenario
end

-- The job whose plan was approved last for a day, while its plan is kept.
local function approved_job(root)
  local id = call('HGET', scenario_key(root), 'approved')
  return id and call('EXISTS', plan_key(id)) == 1 and id or nil
end
