"""The whole service, from intake to relay, on virtual time and seeded chance.

One seed is one made-up day: a few clients, extractors with tempers, workers that are killed, frozen and
restarted, a database that is away, clocks that disagree. Everything of ours is the real code; only the
event loop, the clock and the extractors are played. ``play.simulate`` runs a seed, ``invariants`` says what
must hold afterwards, ``python -m simulation 123`` (``make simulate SEEDS=123``) runs seeds by hand.
"""
