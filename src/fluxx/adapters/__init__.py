"""How the ports' promises are kept: one folder for each kind of world outside."""
