"""The process of `foliot serve` and `foliot worker`."""
