"""What the daemon costs: wake-ups, memory, bytes written and processor time."""
