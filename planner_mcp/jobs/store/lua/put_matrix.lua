-- Stores matrices with their expiry and counts them against the limit of their principal.
-- A: matrix, principal, ttl_s, most, index (the list they count in), evicts (the oldest goes); ARGV[2…]: fields, values
local index = P .. A.index .. ':' .. A.principal
local function matrix_key(id) return P .. 'mat:' .. id end
for _, id in ipairs(call('ZRANGE', index, 0, -1)) do
  if call('EXISTS', matrix_key(id)) == 0 then call('ZREM', index, id) end
end
if not call('ZSCORE', index, A.matrix) and call('ZCARD', index) >= A.most then
  if not A.evicts then return { 'quota' } end
  local oldest = call('ZRANGE', index, 0, 0)[1]
  call('DEL', matrix_key(oldest))
  call('ZREM', index, oldest)
end
call('HSET', matrix_key(A.matrix), unpack(ARGV, 2))
call('ZADD', index, NOW_MS, A.matrix)
use('mat', A.matrix, A.principal, A.ttl_s)
return { 'ok' }
