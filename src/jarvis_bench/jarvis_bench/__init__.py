"""Running many episodes, comparing them, and pages that show one."""
