"""Limits on what a network can do: connections, hosts, origins, headers of answers."""
