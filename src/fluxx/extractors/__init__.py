"""The other side of the contract: reference extractors that really extract, and a simulator that pretends."""
