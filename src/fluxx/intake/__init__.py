"""How files come in: uploaded by a client application, accepted from the bus, turned into jobs."""
