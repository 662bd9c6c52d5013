"""One file a group of subcommands of `helix`."""
