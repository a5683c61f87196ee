-- Opens an endpoint in this shard because its owner asked for it in another.
-- A: endpoint
reopen(A.endpoint)
rescore(A.endpoint)
return { 'ok' }
