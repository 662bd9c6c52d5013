"""The data that leaves the machine: counted where sockets are connected, not claimed."""
