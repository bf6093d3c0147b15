"""The backends of a self-hosted dstack server: its `config.yml`, and a check that VMs can run on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmfront.settings import Settings

#: Backends whose machines cannot run the listener, with the reason.
_UNSUPPORTED_BACKENDS = {
    "kubernetes": "dstack mounts only directories of a node into a pod, and the listener needs the node's "
    "Docker socket to create sandboxes"
}


def check_backends(settings: Settings) -> None:
    """Check that VMs can run on the backends.

    Raises:
        BadSetting: They cannot run on one of the backends.
    """
    has_cpu_backend = settings.has_cpu_nodes and settings.cpu_backend is not None
    for name in settings.of_cpu_fleet().backends if has_cpu_backend else ():
        if name in _UNSUPPORTED_BACKENDS:
            raise BadSetting(
                f"AMD_CPU_BACKEND is {settings.cpu_backend!r}, but CPU nodes cannot run on {name}: "
                f"{_UNSUPPORTED_BACKENDS[name]}.",
                hint="Set AMD_CPU_BACKEND to a cloud with VMs, or unset AMD_CPU_FLEET_NAME.",
            )
    for name in settings.backends:
        if name in _UNSUPPORTED_BACKENDS:
            raise BadSetting(
                f"AMD_BACKEND is {settings.backend!r}, but VMs cannot run on {name}: "
                f"{_UNSUPPORTED_BACKENDS[name]}.",
                hint="Use its machines as hosts of an SSH fleet: unset AMD_BACKEND and set AMD_FLEET_HOSTS. "
                "docs/own-machines.md explains both.",
            )


def server_configuration(settings: Settings) -> dict[str, Any]:
    """Return the `config.yml` of a self-hosted dstack server, with the backends that the fleets need.

    An SSH fleet needs no backend. The fleet of CPU nodes needs those of AMD_CPU_BACKEND.

    Raises:
        BadSetting: There is no such backend, or its API key or its team is not set.
    """
    backends: dict[str, dict[str, str | None]] = {
        "amddevcloud": {"DSTACK_AMDDEVCLOUD_API_KEY": settings.devcloud_api_key},
        "digitalocean": {"DSTACK_DIGITALOCEAN_API_KEY": settings.digitalocean_api_key},
        "hotaisle": {
            "DSTACK_HOTAISLE_API_KEY": settings.hotaisle_api_key,
            "DSTACK_HOTAISLE_TEAM": settings.hotaisle_team,
        },
        "kubernetes": {"DSTACK_KUBECONFIG": str(settings.kubeconfig) if settings.kubeconfig else None},
    }
    variables = {} if settings.fleet_hosts else dict.fromkeys(settings.backends, "AMD_BACKEND")
    if settings.cpu_fleet_name is not None:
        for name in settings.of_cpu_fleet().backends:
            variables.setdefault(name, "AMD_CPU_BACKEND")
    configured = [
        _backend_configuration(name, backends, settings, variable=variable)
        for name, variable in variables.items()
    ]
    return {"projects": [{"name": settings.dstack_project or "main", "backends": configured}]}


def _backend_configuration(
    name: str, backends: Mapping[str, Mapping[str, str | None]], settings: Settings, *, variable: str
) -> dict[str, Any]:
    if name not in backends:
        raise BadSetting(
            f"{variable} is {name!r}; there is a server configuration only for {', '.join(backends)}.",
            hint=f"Set {variable} to one of them, or write the server's config.yml as in dstack's manual.",
        )
    needed = backends[name]
    unset = [variable for variable, value in needed.items() if not value]
    if unset:
        raise BadSetting(
            f"{' and '.join(unset)} {'is' if len(unset) == 1 else 'are'} not set, which the backend "
            f"{name!r} requires.",
            hint=f"Set {' and '.join(unset)} to the values of your account in that cloud.",
        )
    if name == "kubernetes":
        return _kubernetes_configuration(settings)
    key, *team = needed.values()
    backend: dict[str, Any] = {"type": name}
    if team:
        backend["team_handle"] = team[0]
    backend["creds"] = {"type": "api_key", "api_key": key}
    return backend


def _kubernetes_configuration(settings: Settings) -> dict[str, Any]:
    backend: dict[str, Any] = {"type": "kubernetes", "kubeconfig": {"filename": str(settings.kubeconfig)}}
    node = settings.kubernetes_node
    if node is None:
        return backend
    port = {"port": node.port} if node.port else {}
    return {**backend, "proxy_jump": {"hostname": node.host, **port}}
