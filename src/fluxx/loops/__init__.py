"""One driver for every loop, one supervisor for all of them."""
