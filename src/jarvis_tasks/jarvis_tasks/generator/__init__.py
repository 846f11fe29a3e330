"""Models to cut tasks from, made by chance: from a family, a size and a seed."""
