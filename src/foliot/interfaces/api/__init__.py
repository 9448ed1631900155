"""The HTTP API: every command and query of `service`, under /api.

application  the ASGI application: path, host, principal, permission, handler, answer
route        a route: its declaration, beside its handler; finding a route by its path
resources/   the routes, one module for each noun
call         a request as handlers see it: its principal, and the services that act for it
access       who makes a request; development mode; requests that pages of other sites may have sent
signed       who makes a request that an enrolled worker has signed
reading      bodies and queries to values; everything else is refused
paging       pages of lists, with cursors
answer       values to JSON, with possible secrets masked
errors       the one form of errors, and the status of each
idempotency  requests that may be repeated with a key
openapi      the document about all routes; docs_page shows it
streams      server-sent events; log_pieces has those of logs
metering     what /metrics counts; prometheus writes it
listener     the HTTP server on the event loop of the process
"""
