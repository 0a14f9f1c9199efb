"""Who may call the HTTP APIs, for what, how often; and what every answer tells a browser."""
