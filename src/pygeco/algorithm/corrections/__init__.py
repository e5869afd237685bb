"""Steps 5 to 8 of Algorithm 1: what minimizes again after a new pair.

A correction moves between frozen states. `solve` minimizes over the spans as they are; `extend`
adds a pair and minimizes; `drop` leaves the weakest component out, and `shrink` minimizes again
after that. A replacement is an `extend` and then a `drop`, as section 2.1.2 has it, or a `shrink`.
"""
