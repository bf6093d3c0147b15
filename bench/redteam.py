"""Judge every attack of the corpus in each sandbox, and print how many got the required verdict.

Usage: python -m bench.redteam [--record] [NAME...]

`--record` writes the result to docs/red-team.json, from which scripts/generate_red_team.py writes the board.
The exit code is 1 if an attack was not caught, or an honest control failed.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.conftest import TIGHT
from tests.support.attacks import Attack, all_attacks, mistakes
from tests.support.docker_daemon import private_docker
from warmfront import problems, settings
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.judge import Judge
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.sandbox import BUBBLEWRAP, DOCKER, open_sandbox
from warmfront.verdicts import Endpoint

RECORD = Path(__file__).parent.parent / "docs" / "red-team.json"


def main() -> None:
    """Judge the corpus, and print a line per attack and a summary per sandbox."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="write docs/red-team.json")
    parser.add_argument("names", nargs="*", help="attacks; by default all")
    options = parser.parse_args()
    attacks = [attack for attack in all_attacks() if not options.names or attack.name in options.names]
    verdicts: dict[str, dict[str, dict[str, Any]]] = {attack.name: {} for attack in attacks}
    failed = 0
    for sandbox_name in (BUBBLEWRAP, DOCKER):
        with ExitStack() as stack:
            judge = _open_judge(sandbox_name, stack)
            for attack in attacks:
                result = judge_attack(judge, attack)
                verdicts[attack.name][sandbox_name] = result
                print(
                    f"  {sandbox_name:10} {attack.name:32} {result['verdict']:22} {_mark(result)}", flush=True
                )
        results = [verdicts[attack.name][sandbox_name] for attack in attacks]
        right = sum(not result["mistakes"] for result in results)
        failed += len(results) - right
        print(f"{sandbox_name}: {right} of {len(results)} got the required verdict\n")
    if options.record:
        record(verdicts=verdicts)
    sys.exit(1 if failed else 0)


def record(**parts: Any) -> None:  # noqa: ANN401 - JSON
    """Replace the given parts of docs/red-team.json."""
    content = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for name, part in parts.items():
        content[name] = {**content.get(name, {}), **part}
    RECORD.write_text(json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def judge_attack(judge: Judge, attack: Attack) -> dict[str, Any]:
    """Judge one attack; return its verdict, code and mistakes."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        secret = stack.enter_context(tempfile.NamedTemporaryFile("w"))
        secret.write("the secret seed")
        secret.flush()
        source = attack.source.replace("@PORT@", str(server.getsockname()[1])).replace(
            "@SECRET@", secret.name
        )
        events = judge_source(judge, attack, source)
    last = events[-1]
    return {"verdict": last["status"], "code": last.get("code"), "mistakes": mistakes(attack, events)}


def judge_source(judge: Judge, attack: Attack, source: str) -> list[dict[str, Any]]:
    """Judge a source for the problem and endpoint of an attack, and return all events."""
    request = JudgeRequest(
        source=source,
        problem=problems.get(attack.problem),
        dtype=Dtype.FLOAT32,
        endpoint=Endpoint(attack.endpoint),
    )
    return [event.fields() for event in judge.judge(request)]


def _open_judge(sandbox_name: str, stack: ExitStack) -> Judge:
    url = stack.enter_context(private_docker()) if sandbox_name == DOCKER else None
    sandbox = open_sandbox(sandbox_name, url=url)
    stack.callback(sandbox.close)
    tight = settings.load(TIGHT, env_file=None)
    return Judge(CpuToolchain(tight.cache_dir), sandbox, tight)


def _mark(result: dict[str, Any]) -> str:
    return "✓" if not result["mistakes"] else f"✗ {'; '.join(result['mistakes'])}"


if __name__ == "__main__":
    main()
