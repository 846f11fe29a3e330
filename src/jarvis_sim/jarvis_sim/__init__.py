"""The embedded simulator: a world engine with components, and the cell that is built from them.

``SimWorld`` is a cell made from a task; ``SimRobot``, ``SimCamera`` and ``SimSceneSource`` answer the ports of
jarvis_core on it. One thread owns a world: it alone builds, steps, reads and renders it.
"""
