"""The promises of the ports, each written once as a class of tests and bound to adapters in tests/adapters."""

import pytest

pytest.register_assert_rewrite(
    *("contracts.blobs", "contracts.bus", "contracts.secrets"),
    *("contracts.accepting", "contracts.applying", "contracts.claiming", "contracts.reading"),
    *("contracts.outbox", "contracts.registrations", "contracts.retention"),
)
