"""The laboratory: client, gateways and server in network namespaces of this machine."""
