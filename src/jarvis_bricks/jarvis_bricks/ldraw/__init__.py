"""LDraw files: lines, sections, and builds read from and written to them."""
