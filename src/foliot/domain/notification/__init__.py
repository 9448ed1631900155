"""Notifications: messages about ended runs and alerts to webhooks, Slack and the log of the server.

    run ends, or alert --> event --> listener: which targets? --> deliveries --> sender --> notifier --> receiver

The event is stored with the change that it is about. The listener turns it into a stored delivery for each target, and
the sender sends due deliveries until the receiver accepts them, so a crash between any two of these loses no message.
"""
