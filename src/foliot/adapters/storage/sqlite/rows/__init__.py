"""Changes of the rows of runs that several calls have in common. All run inside the transaction of the call."""
