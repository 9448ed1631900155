"""Who may do what, and who did it.

role        roles, and what each of them may do
principal   who made a request: a role, or the scopes of a token that may do less
actor       who made a change, as it is stored with the change
trail       the audit trail: what was changed
token       the text of a token
claims      signed tokens of other services, and client certificates
login       passwords, sessions, and the limit of failed logins
request     keys that make a repeated request safe
"""
