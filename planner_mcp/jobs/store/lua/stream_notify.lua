-- Adds one change of something a session watches to its standalone stream: once, even if several replicas try.
-- Returns 1 when it was added, 0 when it was added before or is not watched, -1 when the session is gone.
-- KEYS: 1 session row, 2 standalone stream, 3 names of the session's streams, 4 what the session watches
-- ARGV: 1 cursor (field of KEYS[4]), 2 position ('<number>-<number>', or 'over': nothing follows), 3 ttl_s,
--       4 max length, 5 channel, 6 stream name, 7… pairs of the watch a message is for ('' for none in particular), and
--       the message; one whose watch has ended meanwhile is not written
if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end

local function parts(position)
  local first, second = position:match('^(%d+)-(%d+)$')
  return tonumber(first) or math.huge, tonumber(second) or 0
end

local mark = redis.call('HGET', KEYS[4], ARGV[1])
if not mark then return 0 end
local first, second = parts(mark)
local first_new, second_new = parts(ARGV[2])
if first_new < first or (first_new == first and second_new <= second) then return 0 end

redis.call('HSET', KEYS[4], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[4], ARGV[3])
local written = false
for index = 7, #ARGV, 2 do
  if ARGV[index] == '' or redis.call('HEXISTS', KEYS[4], 'w:' .. ARGV[index]) == 1 then
    redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[4], '*', 'kind', 'message', 'text', ARGV[index + 1])
    written = true
  end
end
if written then
  redis.call('EXPIRE', KEYS[2], ARGV[3])
  redis.call('HSETNX', KEYS[3], ARGV[6], '[]')
  redis.call('EXPIRE', KEYS[3], ARGV[3])
  redis.call('PUBLISH', ARGV[5], ARGV[6])
end
return 1
