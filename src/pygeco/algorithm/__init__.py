"""The paper: choices, the loop, directions, corrections, certificates, penalties, paths."""
