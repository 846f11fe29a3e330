"""From a build to tasks: segments, refusals, targets, task folders."""
