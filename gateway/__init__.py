"""gwbench: how many Mbit/s of IPsec a router or gateway really pushes, and what holds it back."""

__version__ = "0.1.0"
