"""Run by hand: ``PYTHONPATH=tests python -m servers.servicebus [--port N] TOPIC TOPIC/SUBSCRIPTION …``.

Prints the connection string and runs until Ctrl-C.
"""

import argparse
import sys
import threading
from contextlib import suppress

from servers.servicebus.server import ServiceBusServer


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="servers.servicebus", description="A Service Bus on loopback, for trying out."
    )
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: a free one)")
    parser.add_argument("entities", nargs="+", metavar="TOPIC[/SUBSCRIPTION]")
    options = parser.parse_args()
    server = ServiceBusServer(port=options.port)
    server.start()
    for entity in options.entities:
        topic, _, subscription = entity.partition("/")
        server.add_topic(topic)
        if subscription:
            server.add_subscription(topic, subscription)
    sys.stdout.write(server.connection_string + "\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
    server.stop()


if __name__ == "__main__":
    main()
