"""The small problem B ↦ R(U B Vᵀ) over the spans."""
