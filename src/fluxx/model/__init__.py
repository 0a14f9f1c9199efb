"""The heart: jobs, what can happen to them, and the rules. Pure: no I/O, no clock, no logging."""
