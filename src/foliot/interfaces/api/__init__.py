"""The HTTP API: every command and query of `service`, under /api.

route       a route: its declaration, beside its handler; the table of all routes; finding a route by its path
call        a request: its typed parameters, its principal, and the services that act for it
reading     bodies and queries to values; everything else is refused
answer      values to JSON, with possible secrets masked
errors      the one form of errors, and the status of each
access      who makes a request; development mode
application the ASGI application: path, host, principal, permission, handler, answer
openapi     the document about all routes; docs_page shows it, reference prints it
streams     server-sent events
listener    the HTTP server on the event loop of the process
resources/  the routes, one module for each noun
"""
