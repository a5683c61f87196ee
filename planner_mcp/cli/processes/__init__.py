"""What commands run: servers, workers, and one solve beside a worker."""
