"""What runs inside the cage: the standard library and NumPy only, nothing of the project besides this folder."""
