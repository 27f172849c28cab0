"""Netlink families that pyroute2 has no messages for, as its message classes: XFRM (IPsec) and CRYPTO.

``xfrm`` and ``crypto`` import nothing of gwbench, so that they could stand in pyroute2; ``connection`` is the small
synchronous socket that gwbench uses them with, ``ipsec`` what gwbench makes of them.
"""
