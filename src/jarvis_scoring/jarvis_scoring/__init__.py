"""Scores of episodes: pure functions of what was recorded.

``brick_score.score`` computes an EpisodeScore from an EpisodeRecord; ``text`` says it in words.
"""
