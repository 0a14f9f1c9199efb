"""A Service Bus for tests: Microsoft's unmodified client talks to it over TCP, without TLS.

Topics and subscriptions with peek-lock, dead letters, delivery limits, batches, scheduled messages,
browsing, lock renewal and duplicate detection; and faults on demand. Not here: sessions (a
message's session id is kept and shown), deferral, rules, transactions, storage.

AMQP 1.0 is spoken by ``codec.py`` and ``frames.py`` in plain Python: the one library that has the
server's side, python-qpid-proton, is built by a C compiler at installation, and the client's own
codec is private to it.

By hand: ``PYTHONPATH=tests python -m servers.servicebus accepted-file/fluxx-extraction``.
"""
