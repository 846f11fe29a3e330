"""Manuals from elsewhere: pages of a real instruction book, or of another program, in place of drawn ones.

pages.py       a folder of page images, and the map file that says which page shows which step
figures.py     what a page shows, cut out and made comparable with drawings
matching.py    finds the map by drawing the steps and comparing
manual.py      the manual of a task from mapped pages
"""
