"""From the top RGB-D camera to bricks with poses: classical vision, without learned weights."""
