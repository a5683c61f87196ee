-- Everything this shard has measured: field and number, one after the other.
return { 'ok', call('HGETALL', MEASURED) }
