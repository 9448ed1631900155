"""The contenders: ceilings, Foliot and its peers. Operations of each module run in separate processes."""
