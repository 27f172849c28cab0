"""What runs for months: the exporter, and the gateway from a configuration file."""
