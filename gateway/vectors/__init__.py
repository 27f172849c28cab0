"""Published test vectors: read from files of several schemas, asked of every implementation, counted.

``document`` reads and checks a file, ``run`` sends it to the module of its schema, ``outcome`` is what comes back.
"""
