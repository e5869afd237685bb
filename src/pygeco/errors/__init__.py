"""What goes wrong, and how text from data is shown in what is said about it."""
