"""How a listener begins and ends, and that nothing is left of it: every signal, silence, a stuck loop."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.support.listeners import COMMAND, SPINNING, TOKEN, listening, spin_until_it_runs
from warmfront.errors import UsageError
from warmfront.listener.protocol import TOKEN_VARIABLE
from warmfront.listener.server import take_token
from warmfront.listener.watchdog import FORCED

if TYPE_CHECKING:
    from pathlib import Path

#: A listener whose event loop hangs as soon as someone asks for its health.
STUCK = """
import sys, time
from warmfront.cli import main
from warmfront.listener import watchdog
from warmfront.listener.app import ListenerService
ListenerService._health = lambda self: time.sleep(3600)
watchdog.GRACE_S = 0.1
sys.argv = ["warmfront", "listener", *sys.argv[1:]]
main()
"""


class TestEnd:
    """What is left when a listener ends in the middle of its work."""

    def test_a_signal(self, tmp_path: Path) -> None:
        """SIGTERM ends a running attempt without a verdict, and leaves no box, group or folder."""
        with listening(tmp_path) as listener, listener.stream("spins", source=SPINNING) as lines:
            spin_until_it_runs(lines)
            assert listener.leftovers() != []
            listener.process.send_signal(signal.SIGTERM)
            assert list(lines) == []
            assert listener.process.wait(60) == 0
            assert listener.leftovers() == []

    def test_silence(self, tmp_path: Path) -> None:
        """A listener that hears nothing for its dead-man's time cleans up and ends."""
        with listening(tmp_path, "--dead-man", "3") as listener:
            with listener.stream("spins", source=SPINNING) as lines:
                spin_until_it_runs(lines)
                assert list(lines) == []
            assert listener.process.wait(60) == 0
            assert listener.leftovers() == []

    def test_a_stuck_event_loop(self, tmp_path: Path) -> None:
        """A listener whose event loop hangs is ended by its dead-man all the same, with its boxes."""
        stuck = (sys.executable, "-c", STUCK)
        with (
            listening(tmp_path, "--dead-man", "3", command=stuck) as listener,
            listener.stream("spins", source=SPINNING) as lines,
        ):
            spin_until_it_runs(lines)
            with pytest.raises(httpx.HTTPError):
                listener.http.get("/health")
            assert listener.process.wait(60) == FORCED
            assert listener.leftovers() == []

    def test_a_kill(self, tmp_path: Path) -> None:
        """What a killed listener left is removed by the next one, which leaves nothing either."""
        with listening(tmp_path) as killed, killed.stream("spins", source=SPINNING) as lines:
            spin_until_it_runs(lines)
            killed.process.kill()
            with pytest.raises(httpx.HTTPError):
                list(lines)
            killed.process.wait(60)
        assert [path.name for path in killed.boxes.iterdir()] == list(killed.owners)
        with listening(tmp_path) as following:
            assert set(following.owners).isdisjoint(killed.owners)
        assert (killed.leftovers(), following.leftovers()) == ([], [])


class TestStart:
    """What a listener must have to start."""

    def test_no_token(self) -> None:
        """Without a token it does not start, and says which variable is missing."""
        env = {name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE}
        done = subprocess.run(COMMAND, env=env, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 2
        assert TOKEN_VARIABLE in done.stderr

    def test_a_port_that_is_taken(self) -> None:
        """A port that another program has is an error that says so."""
        with socket.create_server(("127.0.0.1", 0)) as taken:
            argv = [*COMMAND, "--port", str(taken.getsockname()[1])]
            env = {**os.environ, TOKEN_VARIABLE: TOKEN}
            done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 3
        assert "Cannot listen on 127.0.0.1" in done.stderr

    def test_the_token_is_taken_away(self) -> None:
        """The token is not in the environment any more once it was read."""
        environ = {TOKEN_VARIABLE: TOKEN, "PATH": "/bin"}
        assert take_token(environ) == TOKEN
        assert environ == {"PATH": "/bin"}
        with pytest.raises(UsageError, match=TOKEN_VARIABLE):
            take_token(environ)
