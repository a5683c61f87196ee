-- Keeps tables of travel whose parts lie ready, gives them their life, and counts them against what their principal may
-- keep. A: matrix, parts (the key of the parts), blocks (how many those are), principal, ttl_s, most, index (the list they
-- count in), evicts (the oldest goes); ARGV[2…]: further fields, values
local index = P .. A.index .. ':' .. A.principal
local function matrix_key(id) return P .. 'mat:' .. id end
local parts = P .. 'matp:' .. A.parts
if call('HLEN', parts) ~= A.blocks then
  call('DEL', parts)
  return { 'lost' }
end
for _, id in ipairs(call('ZRANGE', index, 0, -1)) do
  if call('EXISTS', matrix_key(id)) == 0 then call('ZREM', index, id) end
end
if not call('ZSCORE', index, A.matrix) and call('ZCARD', index) >= A.most then
  if not A.evicts then
    call('DEL', parts)
    return { 'quota' }
  end
  local oldest = call('ZRANGE', index, 0, 0)[1]
  call('DEL', matrix_key(oldest))
  call('ZREM', index, oldest)
end
call('HSET', parts, unpack(ARGV, 2))
call('RENAME', parts, matrix_key(A.matrix))
call('ZADD', index, NOW_MS, A.matrix)
use('mat', A.matrix, A.principal, A.ttl_s)
return { 'ok' }
