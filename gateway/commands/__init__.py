"""One module a command: arguments and a call, no logic."""
