"""The protocols of `foliot.service.operations` by HTTP.

all         HttpOperations and HttpReads: all of them, on one client
commands    changes
reads       lists and pages
logs        output of runs and steps
"""
