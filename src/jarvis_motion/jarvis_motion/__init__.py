"""Motion planning backends behind one protocol, trajectory timing and checks."""
