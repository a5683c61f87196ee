"""What the store keeps beside jobs: records of keys, audit, imports, addresses and requests."""
