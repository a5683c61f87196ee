-- Records that the holder of the standalone stream has received something on it.
-- KEYS: 1 session row · ARGV: 1 token of the holder
if redis.call('HGET', KEYS[1], 'standalone') == ARGV[1] then redis.call('HSET', KEYS[1], 'told', '1') end
return 1
