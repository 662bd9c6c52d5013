"""Sources against servers of Debian's packages: run by ``make test-servers``."""
