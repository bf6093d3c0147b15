"""The parameters of the stub GPU, and the devices that they describe."""

from __future__ import annotations

import pytest

from warmfront import gpus
from warmfront.errors import BadSetting
from warmfront.hip.installed_gpu import gpu_of
from warmfront.hip.stub.stub_spec import StubSpec
from warmfront.hip.stub.stub_toolchain import stub_devices, visible_stub_devices


def test_a_text_sets_what_it_names() -> None:
    """Everything else has its default; spaces do not matter."""
    spec = StubSpec.parse("copy_gbps=2.5, devices = 8,fault=hang,kernel.relu=12.5")
    assert (spec.copy_gbps, spec.devices, spec.fault, spec.kernels_us) == (2.5, 8, "hang", {"relu": 12.5})
    assert spec.launch_us == StubSpec().launch_us
    assert StubSpec.parse("") == StubSpec()


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("copy_gbps=0", ("copy_gbps='0'", "above 0")),
        ("copy_gbps=fast", ("copy_gbps='fast'", "a number above 0")),
        ("launch_us=-1", ("launch_us='-1'", "from 0")),
        ("launch_us=nan", ("launch_us='nan'",)),
        ("devices=1.5", ("devices='1.5'", "whole number above 0 to 64")),
        ("devices=65", ("devices='65'",)),
        ("idle_clock=2", ("idle_clock='2'", "at most 1")),
        ("fault=fire", ("fault='fire'", "memory_fault")),
        ("arch=sm_90", ("arch='sm_90'", "gfx942")),
        ("scale=big", ("scale='big'", "cpu or gpu")),
        ("speed=1", ("'speed'", "copy_gbps")),
        ("hang", ("hang", "name=value")),
        ("kernel.a-b=1", ("'kernel.a-b'",)),
    ],
)
def test_a_bad_value_is_refused_with_its_name(text: str, fragments: tuple[str, ...]) -> None:
    """The error names the setting, the parameter, its value and what is allowed."""
    with pytest.raises(BadSetting) as caught:
        StubSpec.parse(text)
    for fragment in ("WARMFRONT_STUB_GPU", *fragments):
        assert fragment in caught.value.message


def test_the_runtime_gets_the_facts_of_the_gpu() -> None:
    """Pinned copies are as fast as others unless the text says otherwise."""
    text = StubSpec.parse("copy_gbps=2").runtime_text(gpus.MI300X)
    pairs = dict(pair.split("=") for pair in text.split(","))
    assert pairs["arch"] == pairs["code_arch"] == "gfx942"
    assert pairs["compute_units"] == "304"
    assert float(pairs["pinned_gbps"]) == float(pairs["copy_gbps"]) == 2


def test_a_device_of_another_arch_is_another_gpu() -> None:
    """The device's own report identifies it, as on a real GPU."""
    [device] = stub_devices(StubSpec.parse("arch=gfx90a"), gpus.MI300X)
    assert device.arch == "gfx90a"
    assert gpu_of(device) == gpus.by_arch("gfx90a")
    assert stub_devices(StubSpec.parse("fault=no_device"), gpus.MI300X) == []


@pytest.mark.parametrize(
    ("environ", "numbers"),
    [
        ({}, [0, 1, 2, 3]),
        ({"ROCR_VISIBLE_DEVICES": "3,1"}, [3, 1]),
        ({"ROCR_VISIBLE_DEVICES": "3,1", "HIP_VISIBLE_DEVICES": "1"}, [1]),
        ({"HIP_VISIBLE_DEVICES": "2,9,0"}, [2]),
        ({"ROCR_VISIBLE_DEVICES": "GPU-5700000000000002"}, [2]),
        ({"ROCR_VISIBLE_DEVICES": ""}, []),
    ],
)
def test_variables_of_rocm_choose_devices(environ: dict[str, str], numbers: list[int]) -> None:
    """A device that does not exist ends the list, as with ROCm."""
    spec = StubSpec.parse("devices=4")
    all_devices = stub_devices(spec, gpus.MI300X)
    visible = visible_stub_devices(spec, gpus.MI300X, environ)
    assert visible == [all_devices[number] for number in numbers]
