-- Append one message to an SSE stream of a session, renew its owner's lease, wake its followers.
-- Refused (false) when the session is gone or the stream has ended: a replica that was paused past its lease cannot
-- write behind the error its clients were already given.
-- KEYS: 1 session row, 2 stream, 3 lease, 4 names of the session's streams
-- ARGV: 1 stream name, 2 kind, 3 text, 4 owner ('' = none), 5 lease_ms, 6 ttl_s, 7 max length, 8 channel,
--       9 ids of the requests that the stream still owes an answer, as JSON, 10 a text of this append alone
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
if last and last[2][6] == ARGV[10] then return last[1] end -- the same step, repeated
if last and last[2][2] == 'final' then return false end
local id = redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[7], '*', 'kind', ARGV[2], 'text', ARGV[3], 'append', ARGV[10])
redis.call('EXPIRE', KEYS[2], ARGV[6])
if not last then
  for _, name in ipairs(redis.call('HRANDFIELD', KEYS[4], 2)) do -- streams that ran out: two are looked at for one made
    local stream = KEYS[2]:sub(1, -#ARGV[1] - 1) .. name
    if redis.call('EXISTS', stream) == 0 then redis.call('HDEL', KEYS[4], name) end
  end
end
if redis.call('HGET', KEYS[4], ARGV[1]) ~= ARGV[9] then
  redis.call('HSET', KEYS[4], ARGV[1], ARGV[9])
  redis.call('EXPIRE', KEYS[4], ARGV[6])
end
if ARGV[4] ~= '' then
  if ARGV[2] == 'final' then
    redis.call('DEL', KEYS[3])
  else
    redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[5])
  end
end
redis.call('PUBLISH', ARGV[8], ARGV[1])
return id
