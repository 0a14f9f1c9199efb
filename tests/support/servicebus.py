"""A Service Bus server for one test or one file of tests: started at once, stopped afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager

from servers.servicebus.server import ServiceBusServer


@contextmanager
def running_servicebus() -> Iterator[ServiceBusServer]:
    """Give a running server without topics."""
    server = ServiceBusServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()
