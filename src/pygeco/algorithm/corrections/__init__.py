"""Steps 5 to 8 of Algorithm 1: core, diagonal and sweep."""
