"""Steps 5 to 8 of Algorithm 1: what minimises again after a new pair.

A correction moves between frozen states. `solve` minimises over the spans as they are; `extend`
adds a pair and minimises; `drop` leaves the weakest component out, and `shrink` minimises again
after that. A replacement is an `extend` and then a `drop`, as section 2.1.2 has it, or a `shrink`.
"""
