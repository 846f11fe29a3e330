"""Headless GL pictures of bricks: pages of a building manual, parts lists, part pictures."""
