-- Makes the first secret of a principal, or puts a new one before the old ones; those whose time is over are forgotten.
-- A: principal, is_first (only when there is none), old_ms (life of an old secret), most, keep_ms; ARGV[2]: encrypted
local key = P .. 'whsec:' .. A.principal
local current = call('HGET', key, 'current')
if not (A.is_first and current) then
  local old = {}
  for _, one in ipairs(cjson.decode(call('HGET', key, 'old') or '[]')) do
    if one.until_ms > NOW and #old < A.most - 2 then old[#old + 1] = one end
  end
  if current then table.insert(old, 1, { sealed = current, until_ms = NOW + A.old_ms }) end
  call('HSET', key, 'current', ARGV[2], 'created_ms', string.format('%d', NOW))
  call('HSET', key, 'old', #old > 0 and cjson.encode(old) or '[]')
  call('HDEL', key, 'shown_ms')
end
call('PEXPIRE', key, A.keep_ms)
return { 'ok', call('HGETALL', key), NOW }
