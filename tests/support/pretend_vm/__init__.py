"""A pretend VM: the environment of a cloud's VM with an MI300X, on a machine without a GPU.

`machine.py` is the VM: device files as udev makes them, the driver's files, and a Docker daemon, in its own
namespaces. `image.py` makes the image of the worker task. `provider.py` leases pretend VMs to an orchestrator
and runs the same task that dstack would run, with dstack's own options for containers.
"""
