"""What every child process of a worker needs: message frames and limits of the operating system."""
