"""The script that keeps real HIP compilers in the cache, with substitutes for the programs that it runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/rocm-rootfs"
_TOOLS = ["bash", "chmod", "dirname", "env", "flock", "head", "mkdir", "mktemp", "rm", "sed", "tail"]
_APT = f"""#!/bin/sh
echo "$@" >>"$CALLS"
case "$1 $*" in
  indextargets*) echo "Debian|Debian|http://mirror.invalid/debian" ;;
  install*debootstrap) printf '#!/bin/sh\\necho debootstrap "$@" >>"$CALLS"\\nexit 7\\n' >"$BIN/debootstrap"
    {shutil.which("chmod")} +x "$BIN/debootstrap" ;;
esac
"""


@pytest.mark.skipif(not shutil.which("flock"), reason="the script needs util-linux")
def test_installs_what_makes_a_root_file_system(tmp_path: Path) -> None:
    """On a machine without debootstrap, the script installs it and continues."""
    bin_dir, calls = tmp_path / "bin", tmp_path / "calls"
    bin_dir.mkdir()
    for tool in _TOOLS:
        (bin_dir / tool).symlink_to(shutil.which(tool) or tool)
    for name, text in {"id": "#!/bin/sh\necho 0\n", "apt-get": _APT}.items():
        (bin_dir / name).write_text(text)
        (bin_dir / name).chmod(0o755)
    places = {"BIN": str(bin_dir), "CALLS": str(calls), "WARMFRONT_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [str(SCRIPT), "6.4"],
        env={**os.environ, "PATH": str(bin_dir), **places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "failed: debootstrap --variant=minbase forky" in done.stderr  # the substitute creates nothing
    lines = calls.read_text().splitlines()
    assert lines.index("install -y -qq --no-install-recommends debootstrap") < len(lines) - 1
    assert lines[-1].startswith("debootstrap --variant=minbase forky")
    assert not list((tmp_path / "cache").glob("rocm-6.4*/"))
