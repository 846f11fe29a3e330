"""The calls in a browser, for people."""
