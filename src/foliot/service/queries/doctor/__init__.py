"""`foliot doctor`: what is wrong with an installation, and what to do.

findings    the types: each has a code, a severity and values, without text
host        probes of the configuration and the machine
stored      probes of the database
report      all of them together
"""
