"""Measurements: what is done, in which order, and what is read before and after."""
