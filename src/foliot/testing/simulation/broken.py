"""What a watch says when it has seen what must not be."""


class Broken(AssertionError):
    """Something that must always hold does not. The message begins with the id of the invariant."""
