"""``python -m helix``: the ``helix`` command."""

import sys

from helix.cli import main

sys.exit(main())
