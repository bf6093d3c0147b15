"""The only place where dstack's own modules are imported: a session with its server, and its types.

Blocking, and called in threads. Failures leave it as our errors, told apart by type and HTTP status.
"""

from __future__ import annotations

import base64
import importlib.metadata
import itertools
import os
import re
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warmfront.errors import (
    BadSetting,
    DstackDenied,
    DstackFailed,
    DstackMissing,
    DstackRefused,
    DstackUnreachable,
    NoBackend,
    WarmfrontError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warmfront.settings import Settings

#: The first release with what we use of it, and the last before it may have changed.
NEEDED = (0, 22)
PIP_LINE = "pip install 'warmfront[dstack]'"

#: For the connection, and for each answer.
_HTTP_TIMEOUTS_S = (5.0, 50.0)
_MOST_LOG_PAGES = 1000
#: What the kernel takes as a socket's path, less what ssh appends while it makes one.
_LONGEST_SOCKET = 107 - 17


@dataclass(frozen=True)
class DstackSession:
    """A server, a project, and a connection for each thread: dstack's is not made to be shared."""

    url: str
    project: str
    token: str = field(repr=False)
    _local: threading.local = field(default_factory=threading.local, repr=False)
    _opened: list[Any] = field(default_factory=list, repr=False)

    def call(self, work: Callable[[Any], Any], default: Mapping[str, Any]) -> Any:
        """Do it; with `missing` in `default`, that is the answer where there is no such thing."""
        import requests
        from dstack._internal.core import errors

        try:
            return work(self._api())
        except WarmfrontError:
            raise
        except errors.ResourceNotExistsError as error:
            if "missing" in default:
                return default["missing"]
            raise DstackRefused(
                _sentence(error), hint="Look at what the project has, and try again."
            ) from None
        except (errors.BackendNotAvailable, errors.BackendInvalidCredentialsError) as error:
            raise NoBackend(
                _sentence(error), hint="See `dstack project` and the backends in the server's config.yml."
            ) from None
        except errors.ServerClientError as error:
            raise DstackRefused(_sentence(error), hint="Change what dstack names, and try again.") from None
        except errors.DstackError as error:
            raise DstackFailed(_sentence(error), hint="Look at the dstack server's log.") from error
        except requests.RequestException as error:
            raise unreachable(self.url, error) from None

    def close(self) -> None:
        """Close every thread's connection."""
        while self._opened:
            self._opened.pop().close()

    def _api(self) -> Any:
        if not hasattr(self._local, "api"):
            self._local.api = self._connect()
        return self._local.api

    def _connect(self) -> Any:
        from dstack.api.server import APIClient

        api = APIClient(self.url, self.token)
        http = api._s  # noqa: SLF001 - dstack's client has neither time-outs nor the status of a refusal
        self._opened.append(http)
        http.hooks["response"].append(self._look)
        http.request = _with_defaults(http.request, url=self.url)
        return api

    def _look(self, response: Any, **_: object) -> None:
        """Dstack's client turns every status into one error; what a person must do differs."""
        if response.status_code in {401, 403, 404} or response.status_code >= 500:
            response.close()  # what is raised below leaves it unread, and the connection open
        if response.status_code in {401, 403}:
            raise DstackDenied(
                f"The dstack server at {self.url} denies this token the project {self.project!r}.",
                hint="Set DSTACK_TOKEN and DSTACK_PROJECT to those of the server's page of projects, "
                "or run `dstack project add`.",
            )
        if response.status_code == 404:
            raise DstackRefused(
                f"The dstack server at {self.url} has no project {self.project!r}, or is too old.",
                hint="Set DSTACK_PROJECT to one that the server has; a new server has `main`. "
                "The server must be 0.21 or newer.",
            )
        if response.status_code >= 500:
            raise DstackFailed(
                f"The dstack server at {self.url} failed ({response.status_code}).",
                hint="Look at the dstack server's log; what was asked can be asked again.",
            )


def open_session(settings: Settings) -> DstackSession:
    """A session that works: the server answers, and the token opens the project."""
    check_installed()
    session = _configured(settings)
    try:
        session.call(lambda api: api.users.get_my_user(), {})
        session.call(lambda api: api.projects.get(session.project), {})
    except BaseException:
        session.close()
        raise
    return session


def check_installed() -> None:
    """Whether dstack's client is there, and new enough."""
    # It wants a git at once, which only its repositories need, and we have none of those.
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    try:
        version = importlib.metadata.version("dstack")
    except importlib.metadata.PackageNotFoundError:
        raise DstackMissing("dstack's client is not installed.", hint=PIP_LINE) from None
    numbers = tuple(map(int, re.findall(r"\d+", version)[:2]))
    if numbers < NEEDED:
        raise DstackMissing(
            f"dstack {version} is too old: {'.'.join(map(str, NEEDED))} or newer is needed.", hint=PIP_LINE
        )


def unreachable(url: str, error: object) -> DstackUnreachable:
    """The error for a server that does not answer."""
    return DstackUnreachable(
        f"No dstack server answers at {url} ({type(error).__name__}).",
        hint="Start it (`dstack server`), or set DSTACK_SERVER_URL to where it is.",
    )


def fleet_spec(configuration: Mapping[str, Any]) -> Any:
    """What dstack makes of a fleet's configuration."""
    from dstack._internal.core.models.fleets import FleetSpec
    from dstack._internal.core.models.profiles import Profile

    return FleetSpec(configuration=parse(configuration), profile=Profile(name="default"))


def parse(configuration: Mapping[str, Any]) -> Any:
    """What dstack makes of a configuration, before anything is sent."""
    from dstack._internal.core.errors import ConfigurationError
    from dstack._internal.core.models.configurations import parse_apply_configuration

    try:
        return parse_apply_configuration(dict(configuration))
    except (ConfigurationError, ValueError) as error:
        raise DstackRefused(
            f"dstack does not take this configuration: {error}", hint="Change the setting that it names."
        ) from None


def list_instances(body: Mapping[str, Any]) -> Callable[[Any], Any]:
    """The call that has no method in dstack's client."""

    def work(api: Any) -> Any:
        from dstack._internal.core.models.common import validate_extra_ignore
        from dstack._internal.core.models.instances import Instance
        from dstack._internal.server.schemas.instances import ListInstancesRequest

        request = ListInstancesRequest(**body).model_dump_json()
        answer = api._request("/api/instances/list", body=request)  # noqa: SLF001 - there is no other way
        return validate_extra_ignore(list[Instance], answer.json())

    return work


def submit(api: Any, *, project: str, task: Any) -> Any:
    """Upload the task's files, plan it, submit it; the run."""
    return _client(api, project).runs.apply_configuration(task, reserve_ports=False)._run  # noqa: SLF001


def attach(api: Any, *, project: str, name: str) -> Any:
    """Open dstack's tunnel to a run that is running; what it is closed by."""
    run = _client(api, project).runs.get(name)
    if run is None or run.status.value != "running":
        raise DstackFailed(
            f"Run {name} is {run.status.value if run else 'unknown'}: there is nothing to attach to."
        )
    _refuse_long_path(name)
    if not run.attach(bind_address="127.0.0.1"):
        raise DstackFailed(f"Run {name} has ended: there is nothing to attach to.")
    return run


def _refuse_long_path(name: str) -> None:
    """Say what is wrong: ssh would only say that it cannot connect."""
    from dstack._internal.core.services.ssh.attach import SSHAttach

    path = str(SSHAttach.get_control_sock_path(name))
    if len(path) > _LONGEST_SOCKET:
        raise DstackFailed(
            f"ssh cannot make the socket {path}: its path has more than {_LONGEST_SOCKET} characters.",
            hint="Set HOME to a shorter path.",
        )


def detach(run: Any) -> None:
    """Close the tunnel, also one that an earlier process of ours opened, which dstack would leave."""
    attached = run._ssh_attach  # noqa: SLF001 - as above
    run.detach()
    if attached is not None:
        attached.tunnel.close()


def read_logs(api: Any, *, project: str, name: str) -> bytes:
    """All that dstack has of the output of a run's latest job."""
    from dstack._internal.server.schemas.logs import PollLogsRequest

    job = api.runs.get(project, name).latest_job_submission
    if job is None:
        return b""
    found: list[bytes] = []
    token: str | None = None
    for _ in itertools.repeat(None, _MOST_LOG_PAGES):
        request = PollLogsRequest(
            run_name=name, job_submission_id=job.id, descending=False, limit=1000, next_token=token
        )
        page = api.logs.poll(project_name=project, body=request)
        found += [base64.b64decode(line.message) for line in page.logs]
        token = page.next_token
        if token is None:
            break
    return b"".join(found)


def _client(api: Any, project: str) -> Any:
    from dstack.api import Client

    return Client(api_client=api, project_name=project)


def _configured(settings: Settings) -> DstackSession:
    """Which server: our settings, and dstack's own file for what they leave open."""
    url, token, project = settings.dstack_url, settings.dstack_token, settings.dstack_project
    if not (url and token and project):
        from dstack._internal.core.services.configs import ConfigManager

        known = ConfigManager().get_project_config(project)
        if known is not None and url in {None, known.url}:
            url, token, project = known.url, token or known.token, known.name
    values = {"DSTACK_SERVER_URL": url, "DSTACK_TOKEN": token, "DSTACK_PROJECT": project}
    unset = [name for name, value in values.items() if not value]
    if not (url and token and project):
        raise BadSetting(
            f"{' and '.join(unset)} {'is' if len(unset) == 1 else 'are'} not set, and dstack's own "
            "configuration has no such project.",
            hint="Set them in .env, or run `dstack project add --name … --url … --token …`.",
        )
    return DstackSession(url.rstrip("/"), project, token)


def _with_defaults(request: Callable[..., Any], *, url: str) -> Callable[..., Any]:
    """The session's `request`, with time-outs, and with one error for a server that is not there.

    dstack's client would try three times, a second apart, and then say so in words alone. One more try is
    right: a connection that was kept open may be one of a server that was restarted since.
    """
    import requests

    def ask(*args: Any, **options: Any) -> Any:
        options.setdefault("timeout", _HTTP_TIMEOUTS_S)
        try:
            try:
                return request(*args, **options)
            except requests.ConnectionError:
                return request(*args, **options)
        except (requests.ConnectionError, requests.Timeout) as error:
            raise unreachable(url, error) from None

    return ask


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return f"dstack: {text.rstrip('.')}."
