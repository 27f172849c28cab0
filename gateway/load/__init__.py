"""Load: what is sent through the tunnel, and what came out."""
