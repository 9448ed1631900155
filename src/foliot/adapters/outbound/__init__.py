"""The way out: everything that Foliot calls on somebody's behalf goes through here, and is checked on the way.

    Request --> Guard.admit --> addresses --> one connection --> answer
                  ^   look the name up once, judge all it leads to       |
                  |                                                      | redirect
                  +---------------- redirected request <-----------------+

`Outbound.exchange` is the one door: jobs of kind http use it, and whatever else will call URLs. It reads no proxy
variables and no netrc, keeps no cookies and no connections, and leaves nothing open. See docs/design/outbound-guard.md.

aiohttp takes long to import: only `client` needs it, so import that when the first request is made.
"""
