"""An agent's program in a process of its own, isolated by the operating system, behind one pipe."""
