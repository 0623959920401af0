"""Features in any container: one matrix of numbers, or several views of the rows."""
