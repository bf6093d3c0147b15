"""The image of VMs: its lock file, the copied part of ROCm, and errors that say what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from warmfront import gpus
from warmfront.cli import main
from warmfront.errors import BadSetting, UsageError
from warmfront.providers.dstack import vm_image

ROOT = Path(__file__).parents[4]
SLIM = ROOT / vm_image.CONTEXT / "slim-rocm"
CHECK = ROOT / vm_image.CONTEXT / "check-compilers"
DIGEST = f"sha256:{'0123456789abcdef' * 4}"


@pytest.fixture(name="repository")
def _repository(tmp_path: Path) -> Path:
    """A copy of what `warmfront image` reads, with empty digests."""
    for path in (vm_image.LOCK, vm_image.REQUIREMENTS):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    shutil.copytree(ROOT / vm_image.CONTEXT, tmp_path / vm_image.CONTEXT)
    return tmp_path


def test_the_lock_file_names_a_version_of_rocm_7() -> None:
    """The version is part of the image's tag, and the image is named by repository and tag."""
    bases = vm_image.read_lock(ROOT)
    version = bases["rocm"].image.rpartition(":")[2]
    assert version.startswith("7.")
    assert vm_image.image_name("ghcr.io/me/vm", ROOT).startswith("ghcr.io/me/vm:")
    assert vm_image.image_name("ghcr.io/me/vm", ROOT).endswith(f"-rocm{version}")


def test_a_build_without_digests_is_refused(repository: Path) -> None:
    """The error names the file, the image and the command that writes the digest."""
    with pytest.raises(
        BadSetting, match=r"images\.toml: digest of \[rocm\] is empty, but the tag of rocm/dev"
    ) as raised:
        vm_image.build(repository, "vm:1", cache_dir=repository)
    assert "`warmfront image lock`" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[rocm]\nimage = 3", "KeyError"),
        ("not toml", "cannot be read"),
        ('[rocm]\nimage = "r:1"\ndigest = "sha256:x"\n[ubuntu]\nimage = "u:1"\ndigest = ""\n', "'sha256:x'"),
    ],
)
def test_a_damaged_lock_file(repository: Path, text: str, message: str) -> None:
    """The error names the file and what is wrong with it."""
    (repository / vm_image.LOCK).write_text(text)
    with pytest.raises(BadSetting, match=r"images\.toml") as raised:
        vm_image.read_lock(repository)
    assert message in raised.value.message


def test_another_directory(tmp_path: Path) -> None:
    """Outside the repository there is nothing to build."""
    with pytest.raises(UsageError, match=r"images\.toml does not exist") as raised:
        vm_image.read_lock(tmp_path)
    assert "root directory of the repository" in str(raised.value.hint)


def test_a_missing_repository_and_a_missing_docker(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands say which setting or program is missing, without a traceback."""
    monkeypatch.chdir(repository)
    monkeypatch.delenv("WARMFRONT_IMAGE_REPOSITORY", raising=False)
    assert _exit_code("image", "push") == 2
    assert "WARMFRONT_IMAGE_REPOSITORY is not set" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(repository))
    assert _exit_code("image", "push", "--repository", "registry.example/vm") == 3
    assert "The `docker` command is not installed" in capsys.readouterr().err


def _exit_code(*arguments: str) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["warmfront", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
    return int(ended.value.code or 0)


def test_only_what_compiles_and_runs_kernels_is_copied(tmp_path: Path) -> None:
    """Links are kept with their targets; math libraries and the bitcode of other GPUs are left out."""
    rocm = tmp_path / "rocm-7.2.4"
    files = [
        *("bin/hipcc", "bin/rocblas-bench", "include/hip/hip_runtime.h", "include/rocblas/rocblas.h"),
        *("lib/llvm/bin/clang-22", "lib/llvm/bin/flang", "lib/llvm/lib/clang/22/include/stddef.h"),
        *("lib/libamdhip64.so.7.2", "lib/librocblas.so.5", "share/hip/version"),
        *(f"amdgcn/bitcode/{name}.bc" for name in ("ocml", "oclc_isa_version_942", "oclc_isa_version_1100")),
    ]
    for file in files:
        (rocm / file).parent.mkdir(parents=True, exist_ok=True)
        (rocm / file).write_text(file)
    links = {
        "lib/libamdhip64.so": "libamdhip64.so.7",
        "lib/libamdhip64.so.7": "libamdhip64.so.7.2",
        "lib/llvm/bin/clang++": "clang-22",
        "bin/amdclang++": "../lib/llvm/bin/clang++",
        "llvm": "lib/llvm",
    }
    for link, target in links.items():
        (rocm / link).symlink_to(target)
    into = tmp_path / "slim"
    subprocess.run(["sh", SLIM, rocm, into, "gfx942", "gfx90a"], check=True, capture_output=True)
    slim = into / "rocm-7.2.4"
    copied = {
        path.relative_to(slim).as_posix()
        for path in slim.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
    left_out = {name for name in files if any(part in name for part in ("rocblas", "flang", "_1100"))}
    assert copied == {*files, *links} - left_out
    assert (into / "rocm" / "bin" / "amdclang++").read_text() == "lib/llvm/bin/clang-22"


@pytest.mark.parametrize(
    ("compilers", "code", "message"),
    [
        ({}, 1, "neither hipcc nor amdclang++"),
        ({"hipcc": 1}, 1, "hipcc does not compile for gfx942"),
        ({"hipcc": 0}, 0, "the image has no amdclang++\ncheck-compilers: hipcc compile for gfx942"),
        ({"amdclang++": 0}, 0, "the image has no hipcc\ncheck-compilers: amdclang++ compile for gfx942"),
        ({"hipcc": 0, "amdclang++": 0}, 0, "check-compilers: hipcc amdclang++ compile for gfx942 gfx950"),
    ],
)
def test_the_check_accepts_either_name_of_the_compiler(
    tmp_path: Path, compilers: dict[str, int], code: int, message: str
) -> None:
    """An image needs one compiler, and each that it has must work for every architecture."""
    for name, status in compilers.items():
        (tmp_path / name).write_text(
            f'#!/bin/sh\nfor last; do :; done\ncp /bin/true "$last"\nexit {status}\n'
        )
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["sh", CHECK, "gfx942", "gfx950"],
        env={"PATH": f"{tmp_path}{os.pathsep}/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert message in done.stderr


def test_the_image_supports_every_gpu_of_the_catalog() -> None:
    """Each architecture is listed once."""
    assert set(vm_image.supported_archs()) == {gpu.arch for gpu in gpus.CATALOG}
    assert len(set(vm_image.supported_archs())) == len(vm_image.supported_archs())
