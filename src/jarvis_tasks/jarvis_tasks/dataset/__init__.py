"""Datasets of tasks: built from collections of models, readable without this code."""
