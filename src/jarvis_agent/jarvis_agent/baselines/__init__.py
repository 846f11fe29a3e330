"""Policies that need no model: lower and upper ends of every table."""
