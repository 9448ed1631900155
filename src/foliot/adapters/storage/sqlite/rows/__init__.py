"""What several verbs do to the rows of runs, inside the transaction of the verb."""
