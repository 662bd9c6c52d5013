"""What an open network may do to the server: connections, hosts, origins, headers of answers."""
