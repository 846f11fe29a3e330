"""Kinds of models. Each module has one or more functions that design a model on a grid and return its title."""
