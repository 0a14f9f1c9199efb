"""How events leave: written beside each transition, relayed to the bus."""
