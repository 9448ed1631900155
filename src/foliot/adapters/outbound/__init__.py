"""Outbound HTTP requests: all requests for jobs go through here and are checked by the guard.

    Request --> Guard.admit --> addresses --> one connection --> response
                  ^   look up the name once, check all its addresses     |
                  |                                                      | redirect
                  +---------------- redirected request <-----------------+

`Outbound.exchange` is the only entry: jobs of kind http use it, and so must every other feature that calls URLs. It
reads no proxy variables and no netrc, and keeps no cookies and no connections. See docs/design/outbound-guard.md.

aiohttp takes long to import. Only `client` needs it, so import `client` when the first request is made.
"""
