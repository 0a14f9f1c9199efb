"""The three HTTP APIs: registration, files, extractor jobs; with health, metrics and documentation."""
