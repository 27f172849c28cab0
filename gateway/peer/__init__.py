"""Other machines, reached by the system's ssh: what they are, what may be used of them, what is put there."""
