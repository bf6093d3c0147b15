"""A session with a dstack server; the only module that imports dstack's own modules.

Its functions block and are called in threads. They raise our errors, chosen by dstack's error type and the
HTTP status.
"""

from __future__ import annotations

import base64
import importlib.metadata
import itertools
import json
import logging
import os
import re
import threading
from dataclasses import field
from pathlib import Path
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
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: The first release that has everything we use.
MIN_VERSION = (0, 22)
_CHECKOUT = Path(__file__).parents[4]

#: Timeouts for connecting, and for each response.
_HTTP_TIMEOUTS_S = (5.0, 50.0)
_MAX_LOG_PAGES = 1000
#: Entries per page of a listing; dstack allows at most 100 runs.
_RUN_PAGE, _INSTANCE_PAGE = 100, 500


@dataclass(frozen=True)
class DstackSession:
    """A server, a project, and one connection per thread: dstack's client is not thread-safe."""

    url: str
    project: str
    token: str = field(repr=False)
    _local: threading.local = field(default_factory=threading.local, repr=False)
    _opened: list[Any] = field(default_factory=list, repr=False)

    def call(self, work: Callable[[Any], Any], default: Mapping[str, Any]) -> Any:
        """Call `work` with dstack's client; if the resource does not exist, return `default["missing"]`.

        Raises:
            DstackRefused: The resource does not exist and there is no default, or the request is invalid.
            NoBackend: The backend is not configured, or its credentials are invalid.
            DstackFailed: dstack failed.
            DstackUnreachable: The server does not respond.
        """
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
                _sentence(error), hint="Check the name: the project does not contain it."
            ) from None
        except (errors.BackendNotAvailable, errors.BackendInvalidCredentialsError) as error:
            raise NoBackend(
                _sentence(error), hint="Check the backends in the dstack server's config.yml."
            ) from None
        except errors.ServerClientError as error:
            raise DstackRefused(_sentence(error), hint="Change the value that dstack names.") from None
        except errors.DstackError as error:
            raise DstackFailed(_sentence(error), hint="Check the dstack server's log.") from error
        except requests.RequestException as error:
            raise unreachable(self.url, error) from None

    def close(self) -> None:
        """Close the connections of all threads."""
        while self._opened:
            self._opened.pop().close()

    def _api(self) -> Any:
        if not hasattr(self._local, "api"):
            self._local.api = self._connect()
        return self._local.api

    def _connect(self) -> Any:
        from dstack.api.server import APIClient

        api = APIClient(self.url, self.token)
        http = api._s  # noqa: SLF001 - dstack's client has no timeouts and hides the HTTP status
        self._opened.append(http)
        http.hooks["response"].append(self._check_status)
        http.request = _with_timeouts(http.request, url=self.url)
        return api

    def _check_status(self, response: Any, **_: object) -> None:
        """Raise a specific error for an HTTP status, because dstack's client raises the same one for all."""
        if response.status_code in {401, 403, 404} or response.status_code >= 500:
            response.close()  # the body stays unread, which would keep the connection open
        if response.status_code in {401, 403}:
            raise DstackDenied(
                f"The dstack server at {self.url} denies this token access to the project {self.project!r}.",
                hint="Set DSTACK_TOKEN and DSTACK_PROJECT to the values on the server's project page, "
                "or run `dstack project add`.",
            )
        if response.status_code == 404:
            raise DstackRefused(
                f"The dstack server at {self.url} has no project {self.project!r}, or is too old.",
                hint="Set DSTACK_PROJECT to a project of the server; a new server has `main`.",
            )
        if response.status_code >= 500:
            raise DstackFailed(
                f"The dstack server at {self.url} failed with status {response.status_code}.",
                hint="Check the dstack server's log; the request can be repeated.",
            )


def open_session(settings: Settings, *, must_respond: bool = True) -> DstackSession:
    """Open a session, and check that the server responds and the token grants access to the project.

    Without `must_respond`, a server that does not respond is only logged.

    Raises:
        DstackMissing: dstack's client is not installed, or is too old.
        BadSetting: The server, token or project is not set.
        DstackUnreachable: The server does not respond.
        DstackDenied: The token is wrong or has no access to the project.
    """
    check_installed()
    session = _configured_session(settings)
    try:
        session.call(lambda api: api.users.get_my_user(), {})
        session.call(lambda api: api.projects.get(session.project), {})
    except (DstackUnreachable, DstackFailed) as error:
        if must_respond:
            session.close()
            raise
        log.warning(
            "%s No VM can be requested until it responds; submissions wait. %s", error.message, error.hint
        )
    except BaseException:
        session.close()
        raise
    return session


def server_version(api: Any) -> str:
    """Return the version of the server; empty if it was built from source."""
    response = api._request("/api/server/get_info")  # noqa: SLF001 - there is no other way
    return str(response.json().get("server_version") or "")


def check_installed() -> None:
    """Raise `DstackMissing` unless dstack's client is installed and new enough."""
    # On import, dstack requires git, which it needs only for repositories. We use none.
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    try:
        version = importlib.metadata.version("dstack")
    except importlib.metadata.PackageNotFoundError:
        raise DstackMissing("dstack's client is not installed.", hint=_install_hint()) from None
    numbers = tuple(map(int, re.findall(r"\d+", version)[:2]))
    if numbers < MIN_VERSION:
        raise DstackMissing(
            f"dstack {version} is too old; version {'.'.join(map(str, MIN_VERSION))} or newer is required.",
            hint=_install_hint(),
        )


def _install_hint() -> str:
    """Return the command that installs dstack's client: in a checkout, with pinned packages."""
    if (_CHECKOUT / "scripts" / "setup").is_file():
        return f"Run `{_relative(_CHECKOUT)}scripts/setup dstack-client`."
    return "pip install 'warmfront[dstack]'"


def _server_command() -> str:
    """Return the command that starts a dstack server: in a checkout, after `scripts/setup dstack`."""
    if (_CHECKOUT / "scripts" / "setup").is_file():
        return f"{_relative(_CHECKOUT)}.venv-dstack/bin/dstack server"
    return "dstack server"


def _relative(folder: Path) -> str:
    """Return a folder as a path prefix: empty for the current directory."""
    return "" if folder == Path.cwd() else f"{folder}/"


def unreachable(url: str, error: object) -> DstackUnreachable:
    """Return the error for a server that does not respond."""
    return DstackUnreachable(
        f"No dstack server responds at {url} ({type(error).__name__}).",
        hint=f"Start it with `{_server_command()}`, or set DSTACK_SERVER_URL to its address.",
    )


def fleet_spec(configuration: Mapping[str, Any]) -> Any:
    """Parse a fleet configuration into dstack's model, and read the private keys of an SSH fleet.

    Raises:
        DstackRefused: The configuration is invalid.
        BadSetting: A key cannot be read.
    """
    from dstack._internal.core.models.fleets import FleetSpec
    from dstack._internal.core.models.profiles import Profile

    parsed = parse(configuration)
    ssh = parsed.ssh_config
    for reached in (ssh, ssh.proxy_jump) if ssh else ():
        if reached is not None:
            reached.ssh_key = _read_key(reached.identity_file)
    return FleetSpec(configuration=parsed, profile=Profile(name="default"))


def _read_key(path: str) -> Any:
    """Return a private key with its public key.

    Raises:
        BadSetting: The file does not exist, or has no key that dstack supports.
    """
    from dstack._internal.core.models.instances import SSHKey
    from dstack._internal.utils.ssh import resolve_ssh_key

    hint = "Set it to the file of a private key without a passphrase that the hosts accept."
    try:
        public, _, private, _ = resolve_ssh_key(path)
    except (OSError, ValueError) as error:
        raise BadSetting(
            f"AMD_FLEET_SSH_KEY is {path!r}, which cannot be read: {error}.", hint=hint
        ) from None
    if private is None:
        raise BadSetting(f"AMD_FLEET_SSH_KEY is {path!r}, which is a public key.", hint=hint)
    return SSHKey(public=public, private=private)


def parse(configuration: Mapping[str, Any]) -> Any:
    """Parse a configuration into dstack's model. Raises `DstackRefused` if it is invalid."""
    from dstack._internal.core.errors import ConfigurationError
    from dstack._internal.core.models.configurations import parse_apply_configuration

    try:
        return parse_apply_configuration(dict(configuration))
    except (ConfigurationError, ValueError) as error:
        raise DstackRefused(
            f"dstack rejects this configuration: {error}", hint="Change the setting that dstack names."
        ) from None


def list_active_runs(api: Any, *, project: str) -> list[Any]:
    """Return all active runs of the project, newest first."""
    runs: list[Any] = []
    while True:
        last = runs[-1] if runs else None
        page = api.runs.list(
            project_name=project,
            repo_id=None,
            only_active=True,
            limit=_RUN_PAGE,
            job_submissions_limit=1,
            prev_submitted_at=last.submitted_at if last else None,
            prev_run_id=last.id if last else None,
        )
        runs += page
        if len(page) < _RUN_PAGE:
            return runs


def list_instances(body: Mapping[str, Any]) -> Callable[[Any], list[Any]]:
    """Return a call that lists all instances, newest first; dstack's client has no method for it."""

    def call(api: Any) -> list[Any]:
        from dstack._internal.core.models.common import validate_extra_ignore
        from dstack._internal.core.models.instances import Instance
        from dstack._internal.server.schemas.instances import ListInstancesRequest

        instances: list[Any] = []
        while True:
            after = (
                {"prev_created_at": instances[-1].created, "prev_id": instances[-1].id} if instances else {}
            )
            request = ListInstancesRequest(**body, **after, limit=_INSTANCE_PAGE).model_dump_json()
            response = api._request("/api/instances/list", body=request)  # noqa: SLF001 - there is no other way
            page = validate_extra_ignore(list[Instance], response.json())
            instances += page
            if len(page) < _INSTANCE_PAGE:
                return instances

    return call


def get_instance(project: str, instance_id: str) -> Callable[[Any], Any]:
    """Return a call that gets one instance; dstack's client has no method for it."""

    def call(api: Any) -> Any:
        from dstack._internal.core.models.common import validate_extra_ignore
        from dstack._internal.core.models.instances import Instance

        body = json.dumps({"id": instance_id})
        response = api._request(f"/api/project/{project}/instances/get", body=body)  # noqa: SLF001 - there is no other way
        return validate_extra_ignore(Instance, response.json())

    return call


def submit(api: Any, *, project: str, task: Any) -> Any:
    """Upload the task's files, submit the task and return the run."""
    return _client(api, project).runs.apply_configuration(task, reserve_ports=False)._run  # noqa: SLF001


def user_keys(api: Any) -> tuple[str, str]:
    """Return the public and the private SSH key that the server made for our user."""
    user = api.users.get_my_user()
    if user.ssh_public_key is None or user.ssh_private_key is None:
        raise DstackFailed("The dstack server has no SSH key for this user.")
    return user.ssh_public_key, user.ssh_private_key


def read_logs(api: Any, *, project: str, name: str) -> bytes:
    """Return the part of the output of a run's latest job that dstack has recorded so far."""
    from dstack._internal.server.schemas.logs import PollLogsRequest

    job = api.runs.get(project, name).latest_job_submission
    if job is None:
        return b""
    chunks: list[bytes] = []
    token: str | None = None
    for _ in itertools.repeat(None, _MAX_LOG_PAGES):
        request = PollLogsRequest(
            run_name=name, job_submission_id=job.id, descending=False, limit=1000, next_token=token
        )
        page = api.logs.poll(project_name=project, body=request)
        chunks += [base64.b64decode(line.message) for line in page.logs]
        token = page.next_token
        if token is None:
            break
    return b"".join(chunks)


def _client(api: Any, project: str) -> Any:
    from dstack.api import Client

    return Client(api_client=api, project_name=project)


def _configured_session(settings: Settings) -> DstackSession:
    """Return the session for our settings; unset values come from dstack's own configuration file."""
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
            "configuration has no matching project.",
            hint="Set them in .env, or run `dstack project add --name … --url … --token …`.",
        )
    return DstackSession(url.rstrip("/"), project, token)


def _with_timeouts(request: Callable[..., Any], *, url: str) -> Callable[..., Any]:
    """Wrap the HTTP session's `request` with timeouts and one retry; raise `DstackUnreachable` if both fail.

    dstack's client would try three times, a second apart, and report the failure only as text. One retry is
    needed, because the server may have been restarted since the connection was opened.
    """
    import requests

    def request_with_timeout(*args: Any, **options: Any) -> Any:
        options.setdefault("timeout", _HTTP_TIMEOUTS_S)
        try:
            try:
                return request(*args, **options)
            except requests.ConnectionError:
                return request(*args, **options)
        except (requests.ConnectionError, requests.Timeout) as error:
            raise unreachable(url, error) from None

    return request_with_timeout


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return f"dstack: {text.rstrip('.')}."
