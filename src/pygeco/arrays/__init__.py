"""Arrays of any kind, low-rank matrices, operators, small linear algebra, and arrays in files."""
