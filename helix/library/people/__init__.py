"""People: accounts of the server, their roles and groups in tenants, sessions and invitations.

Each function takes a connection of the owner, in the caller's transaction: the role of requests
sees none of these tables.
"""
