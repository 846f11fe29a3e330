"""Reads building manuals by drawing what it thinks they show: an agent's eyes for pages, without a learned model."""
