"""The tool layers: documented functions over the cell's skills, by any door the same."""
