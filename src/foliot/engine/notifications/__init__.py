"""Notifications: a listener that stores deliveries, and a sender that sends them."""
