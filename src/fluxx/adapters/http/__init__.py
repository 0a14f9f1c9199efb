"""HTTP out: the extractor client behind its egress guard."""
