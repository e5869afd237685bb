"""Tables and ids, readers, writers, model files, partitioned folders."""
