"""What every child process of a worker needs: message frames."""
