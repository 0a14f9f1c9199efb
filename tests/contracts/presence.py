"""What ``ports.presence.Presence`` promises: who signed in is there, until it signs out or stays away.

Bind it with a subclass that has a fixture ``world``.
"""

from uuid import uuid4

from support.stores import StoresWorld


class PresenceContract:
    async def test_who_signed_in_is_there_until_it_signs_out(self, world: StoresWorld) -> None:
        async with world.another() as other:
            await world.presence.sign_in("b:1", stays=45)
            await world.presence.sign_in("b:1", stays=45)
            await other.presence.sign_in("a:1", stays=45)
            assert await other.presence.workers() == ["a:1", "b:1"]
            await other.presence.sign_out("b:1")  # another one's
            await other.presence.sign_out("a:1")
            assert await world.presence.workers() == ["b:1"]

    async def test_who_stays_away_is_forgotten_and_may_come_back(self, world: StoresWorld) -> None:
        await world.presence.sign_in("a:1", stays=45)
        world.clock.jump(30)
        async with world.another() as other:
            await other.presence.sign_in("b:1", stays=45)
            world.clock.jump(20)
            assert await world.presence.workers() == ["b:1"]
            await world.presence.sign_in("a:1", stays=45)
            assert await world.presence.workers() == ["a:1", "b:1"]

    async def test_one_that_was_started_again_under_its_name_is_there_once(self, world: StoresWorld) -> None:
        name = "a-very-long-host-name." * 10 + ":1"
        await world.presence.sign_in(name, stays=45)
        async with world.another() as again:
            await again.presence.sign_in(name, stays=45)
            await world.presence.sign_out(name)
            assert len(await again.presence.workers()) == 1

    async def test_the_relay_is_no_worker(self, world: StoresWorld) -> None:
        assert await world.outbox.lead(uuid4(), lease_for=15)
        assert await world.presence.workers() == []
        await world.presence.sign_in("relay", stays=-1)
        assert await world.presence.workers() == []
