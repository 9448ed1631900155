"""One SQLite file: connections, transactions, reads and wake-ups. Knows nothing of jobs and runs."""
