"""A workflow drawn with characters.

placing   where each step stands: rows from layers, an order with few crossings, columns
canvas    characters and lines on a grid
picture   boxes and arrows on the canvas
outline   the same as a list, for what is too wide to be drawn
"""
