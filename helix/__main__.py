"""``python -m helix``: the ``helix`` command."""

from helix.cli import main

main()
