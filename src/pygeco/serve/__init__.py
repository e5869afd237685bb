"""A fitted model behind a page and a JSON interface: `geco serve`."""
