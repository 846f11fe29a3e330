"""Episodes: the cell, the limits, the ground-truth wall, the record."""
