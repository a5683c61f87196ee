-- End a stream whose owner stopped renewing its lease. Returns 1 when the stream is over, now or before, else 0.
-- KEYS: 1 session row, 2 stream, 3 lease
-- ARGV: 1 stream name, 2 channel, 3… the last messages, the final one last
if redis.call('EXISTS', KEYS[1]) == 0 then return 1 end
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
if not last or last[2][2] == 'final' then return 1 end
if redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
for index = 3, #ARGV do
  redis.call('XADD', KEYS[2], '*', 'kind', index == #ARGV and 'final' or 'message', 'text', ARGV[index])
end
redis.call('PUBLISH', ARGV[2], ARGV[1])
return 1
