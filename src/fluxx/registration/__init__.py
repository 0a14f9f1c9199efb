"""Client applications and the extractors registered for them (stories 2 and 3)."""
