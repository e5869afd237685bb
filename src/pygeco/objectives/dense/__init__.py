"""A dense table: `Dense`."""
