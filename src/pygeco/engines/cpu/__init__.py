"""The engine "cpu": passes on the cores of one machine."""
