"""A real Panda behind the names of the simulated one."""
