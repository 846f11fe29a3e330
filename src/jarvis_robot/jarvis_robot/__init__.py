"""Robot descriptions: models, kinematics, limits, grippers."""
