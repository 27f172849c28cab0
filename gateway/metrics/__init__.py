"""What Prometheus sees: names in ``names.py``, one collector a file, the web server in ``web.py``."""
