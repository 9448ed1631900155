"""Workers that connect over HTTP."""
