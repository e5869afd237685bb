"""How each kind of cell is seen by the evidence: its likelihood as weighted squares."""
