"""Reports: one result or several, told to a person. ``model`` is what is said, ``page`` and ``text`` how."""
