"""One SQLite file: connections, transactions, reads and wake-ups. Independent of jobs and runs."""
