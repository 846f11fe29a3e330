"""The same cell in Isaac Sim 6: a USD scene from a task, and a world behind the same doors as the embedded one.

``scene`` needs only pxr (the package usd-core, or Isaac Sim's own). ``api`` alone talks to Isaac Sim; everything
else works on its protocols and is tested without it. See docs/isaac-sim.md for what is tested and what is not.
"""
