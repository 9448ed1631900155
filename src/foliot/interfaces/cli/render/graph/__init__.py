"""A workflow drawn with characters.

layout    the position of each step: rows from layers, an order with few crossings, columns
canvas    characters and lines on a grid
picture   boxes and arrows on the canvas
outline   the workflow as a list, if it is too wide to be drawn
"""
