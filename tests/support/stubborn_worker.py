"""A worker that ignores SIGTERM: ``python -m tests.support.stubborn_worker``.

It puts a file named for its process id into the folder STUBBORN_WORKERS once it is deaf.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Path(os.environ["STUBBORN_WORKERS"], str(os.getpid())).touch()
    time.sleep(120)
