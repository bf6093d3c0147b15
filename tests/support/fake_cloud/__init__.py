"""A fake cloud that a real dstack server uses as AMD Developer Cloud and Hot Aisle.

It implements their APIs, SSH and the protocols of dstack's shim and runner on loopback;
docs/architecture/fake-cloud.md lists what is real and what is fake.
"""

from tests.support.fake_cloud.bill import BillEntry
from tests.support.fake_cloud.cloud import FakeCloud
from tests.support.fake_cloud.cloud_thread import FakeCloudThread
from tests.support.fake_cloud.images import Layer
from tests.support.fake_cloud.switches import ANY, Switches

__all__ = ["ANY", "BillEntry", "FakeCloud", "FakeCloudThread", "Layer", "Switches"]
