-- Returns the job whose plan was approved last for the day of a scenario, '' for none.
-- A: scenario, principal
if call('HGET', scenario_key(A.scenario), 'principal') ~= A.principal then return { 'not_found' } end
return { 'ok', approved_job(root_of(A.scenario)) or '' }
