"""One client's connection: handshake, sessions, links. Speaks AMQP 1.0 as far as Microsoft's client does."""

import asyncio
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

from servers.servicebus.broker import MANAGEMENT, Broker, Refused
from servers.servicebus.codec import Symbol, UByte
from servers.servicebus.frames import (
    AMQP_HEADER,
    SASL_HEADER,
    Attach,
    Begin,
    Close,
    Detach,
    Disposition,
    End,
    Flow,
    Frame,
    Open,
    SaslInit,
    SaslMechanisms,
    SaslOutcome,
    Transfer,
    pack,
    unpack,
)
from servers.servicebus.links import WINDOW, Inlet, Outlet, error
from servers.servicebus.messages import BATCH_FORMAT, parse, parse_batch
from servers.servicebus.requests import management_answer, token_answer

CBS = "$cbs"
FRAME_BYTES = 65_536
MESSAGE_BYTES = 1_048_576


class Session:
    """What one channel carries."""

    def __init__(self) -> None:
        self.delivery_ids = count()
        self.inlets: dict[int, Inlet] = {}
        self.outlets: dict[int, Outlet] = {}
        self.answers: dict[str, Outlet] = {}


class Connection(asyncio.Protocol):
    """Takes a client's frames and answers them. ``connections`` holds the live ones."""

    def __init__(self, broker: Broker, connections: "set[Connection]") -> None:
        self._broker = broker
        self._connections = connections
        self._buffer = bytearray()
        self._sessions: dict[int, Session] = {}
        self._frame_bytes = FRAME_BYTES
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)

    def connection_lost(self, _: Exception | None) -> None:
        self._connections.discard(self)
        for session in self._sessions.values():
            self._end(session)

    def drop(self) -> None:
        """Cut the connection without a word."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._broker.faults.silent:
            return
        self._buffer += data
        for item in unpack(self._buffer):
            if isinstance(item, bytes):
                self._header(item)
            elif item.performative is not None:
                self._frame(item)

    def _header(self, header: bytes) -> None:
        if header == SASL_HEADER:
            self._write(SASL_HEADER)
            self._send(0, SaslMechanisms([Symbol("ANONYMOUS"), Symbol("MSSBCBS")]))
        else:
            self._write(AMQP_HEADER)

    def _frame(self, frame: Frame) -> None:
        channel, fields = frame.channel, frame.performative
        match fields:
            case SaslInit():
                self._send(channel, SaslOutcome(UByte(0)))
            case Open():
                self._frame_bytes = min(fields.max_frame_size or FRAME_BYTES, FRAME_BYTES)
                self._send(channel, Open("servicebus", max_frame_size=FRAME_BYTES))
            case Begin():
                self._sessions[channel] = Session()
                self._send(channel, Begin(channel, 0, WINDOW, WINDOW, handle_max=255))
            case End():
                self._end(self._sessions.pop(channel))
                self._send(channel, End())
            case Close():
                self._send(channel, Close())
                if self._transport is not None:
                    self._transport.close()
            case _ if channel in self._sessions:  # the client detaches links of sessions that it has ended
                self._link_frame(channel, self._sessions[channel], frame)

    def _link_frame(self, channel: int, session: Session, frame: Frame) -> None:
        fields = frame.performative
        match fields:
            case Attach():
                self._attach(channel, session, fields)
            case Transfer():
                session.inlets[fields.handle].transfer(fields, frame.payload)
            case Flow() if fields.handle in session.outlets:
                session.outlets[fields.handle].flow(fields)
            case Disposition():
                for outlet in session.outlets.values():
                    outlet.disposition(fields)
            case Detach():
                self._detach(session, fields.handle)
                self._send(channel, Detach(fields.handle, closed=fields.closed))

    def _attach(self, channel: int, session: Session, attach: Attach) -> None:
        try:
            link = self._outlet(channel, session, attach) if attach.role else self._inlet(channel, session, attach)
        except Refused as refusal:
            refused = attach._replace(role=not attach.role, initial_delivery_count=0)
            self._send(channel, refused._replace(source=None) if attach.role else refused._replace(target=None))
            self._send(channel, Detach(attach.handle, closed=True, error=error(refusal)))
            return
        first = 0 if attach.role else None
        answer = attach._replace(role=not attach.role, initial_delivery_count=first, max_message_size=MESSAGE_BYTES)
        self._send(channel, answer._replace(properties=None, desired_capabilities=None))
        link.open()

    def _outlet(self, channel: int, session: Session, attach: Attach) -> Outlet:
        address = _address(attach.source)
        asked = _is_request(address)
        queue = None if asked else self._broker.queue(address)
        outlet = Outlet(
            attach,
            partial(self._send, channel),
            queue=queue,
            ids=session.delivery_ids,
            now=self._broker.now,
            size=self._frame_bytes,
        )
        session.outlets[attach.handle] = outlet
        if asked:
            session.answers[address] = outlet
        return outlet

    def _inlet(self, channel: int, session: Session, attach: Attach) -> Inlet:
        address = _address(attach.target)
        handle = partial(self._request, session, address) if _is_request(address) else self._taking(address)
        inlet = Inlet(attach, partial(self._send, channel), handle)
        session.inlets[attach.handle] = inlet
        return inlet

    def _taking(self, address: str) -> Callable[[bytes, int], None]:
        topic = self._broker.topic(address)

        def take(content: bytes, form: int) -> None:
            self._broker.publish(topic, parse_batch(content) if form == BATCH_FORMAT else [parse(content)])
            if self._broker.faults.lost_acknowledgements:
                self._broker.faults.lost_acknowledgements -= 1
                self.drop()

        return take

    def _request(self, session: Session, address: str, content: bytes, _: int) -> None:
        request = parse(content)
        if address == CBS:
            session.answers[address].answer(token_answer(self._broker, request))
        else:
            session.answers[address].answer(management_answer(self._broker, address, request))

    def _detach(self, session: Session, handle: int) -> None:
        session.inlets.pop(handle, None)
        outlet = session.outlets.pop(handle, None)
        if outlet is not None:
            outlet.close()

    def _end(self, session: Session) -> None:
        for outlet in session.outlets.values():
            outlet.close()

    def _send(self, channel: int, performative: Any, payload: bytes = b"") -> None:
        self._write(pack(channel, performative, payload))

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


def _address(terminus: Any) -> str:
    return str(terminus.value[0])


def _is_request(address: str) -> bool:
    return address == CBS or address.endswith(MANAGEMENT)
