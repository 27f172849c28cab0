"""Nodes: the processes that carry a data path, behind one interface (:class:`gateway.node.base.Node`)."""
