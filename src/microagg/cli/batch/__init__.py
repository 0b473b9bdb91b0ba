"""What commands have for jobs that nobody watches: logs as JSON, and an end in time."""
