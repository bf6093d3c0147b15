"""Look up the digest of a tag in a container registry, with the protocol that all registries share.

Only the manifest is requested, so no image is pulled and Docker is not needed. The digest is computed from
the manifest, and must match the digest that the registry states.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import httpx

from warmfront.errors import BadSetting, InfrastructureError
from warmfront.value_class import dataclass

#: The media types of images with several platforms and with one, for OCI and Docker.
INDEX_TYPES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
MANIFEST_TYPES = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
#: The platform of VMs.
PLATFORM = {"os": "linux", "architecture": "amd64"}

_DOCKER_HUB = "registry-1.docker.io"
_TIMEOUT_S = 60.0
_LOOPBACK = re.compile(r"(localhost|127(\.\d+){3}|\[::1])(:\d+)?")
_REPOSITORY = re.compile(r"[a-z0-9]+([._/-]+[a-z0-9]+)*")
_TAG = re.compile(r"\w[\w.-]{0,127}")


@dataclass(frozen=True, kw_only=True)
class ImageReference:
    """The location of an image: a registry, a repository in it, and a tag."""

    registry: str  #: host, with a port if it has one
    repository: str
    tag: str

    @classmethod
    def parse(cls, image: str) -> ImageReference:
        """Parse a name as Docker does: the default registry is Docker Hub.

        Raises:
            BadSetting: The text is not the name of an image with a tag.
        """
        first, slash, rest = image.partition("/")
        has_registry = bool(slash) and ("." in first or ":" in first or first == "localhost")
        registry, path = (first, rest) if has_registry else (_DOCKER_HUB, image)
        registry = _DOCKER_HUB if registry == "docker.io" else registry
        repository, _, tag = path.rpartition(":")
        if registry == _DOCKER_HUB and "/" not in repository:
            repository = f"library/{repository}"
        if not _REPOSITORY.fullmatch(repository) or not _TAG.fullmatch(tag):
            raise BadSetting(
                f"{image!r} is not the name of an image with a tag.",
                hint="Use a name such as `ubuntu:24.04` or `registry.example/team/image:1`.",
            )
        return cls(registry=registry, repository=repository, tag=tag)

    @property
    def manifest_url(self) -> str:
        """The address of the manifest. As for Docker, a registry on loopback needs no TLS."""
        scheme = "http" if _LOOPBACK.fullmatch(self.registry) else "https"
        return f"{scheme}://{self.registry}/v2/{self.repository}/manifests/{self.tag}"


def look_up_digest(image: str) -> str:
    """Return the digest of an image that is named by a tag.

    Raises:
        BadSetting: The text is not the name of an image with a tag.
        InfrastructureError: The registry does not respond, has no such image, or none for our platform.
    """
    reference = ImageReference.parse(image)
    headers = {"Accept": ", ".join((*INDEX_TYPES, *MANIFEST_TYPES))}
    try:
        with httpx.Client(timeout=_TIMEOUT_S, follow_redirects=True) as http:
            response = http.get(reference.manifest_url, headers=headers)
            if response.status_code == httpx.codes.UNAUTHORIZED:
                token = _token(http, response.headers.get("WWW-Authenticate", ""), image)
                headers["Authorization"] = f"Bearer {token}"
                response = http.get(reference.manifest_url, headers=headers)
    except httpx.HTTPError as error:
        raise InfrastructureError(
            f"The registry {reference.registry} does not respond: {type(error).__name__}: {error}.",
            hint="Check the name in deploy/images.toml and the network; HTTPS_PROXY sets a proxy.",
        ) from None
    if response.status_code != httpx.codes.OK:
        raise InfrastructureError(
            f"The registry {reference.registry} did not return {image}: status {response.status_code}.",
            hint=_hint(response.status_code),
        )
    return _digest(response, image)


def _token(http: httpx.Client, challenge: str, image: str) -> str:
    """Get the token that the registry requires; a public image needs no account."""
    scheme, _, rest = challenge.partition(" ")
    fields = dict(re.findall(r'(\w+)="([^"]*)"', rest))
    realm = fields.pop("realm", "")
    if scheme.lower() != "bearer" or not realm.startswith(("https://", "http://127.", "http://localhost")):
        raise InfrastructureError(
            f"The registry of {image} requires an unknown kind of credentials: {challenge[:100]!r}.",
            hint="Base images must be public; use a registry that offers them without a password.",
        )
    answer = http.get(realm, params=fields)
    try:
        content = answer.json()
        token = content.get("token") or content.get("access_token")
    except (ValueError, AttributeError):
        token = None
    if answer.status_code != httpx.codes.OK or not isinstance(token, str):
        raise InfrastructureError(
            f"The registry of {image} did not return a token: status {answer.status_code}.",
            hint=_hint(answer.status_code),
        )
    return token


def _digest(response: httpx.Response, image: str) -> str:
    """Check that the manifest is for our platform, and return its digest."""
    content = response.content
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    stated = response.headers.get("Docker-Content-Digest", digest)
    if stated != digest:
        raise InfrastructureError(
            f"The registry sent a manifest of {image} that does not match its stated digest {stated}."
        )
    try:
        manifest: dict[str, Any] = json.loads(content)
        kind = manifest.get("mediaType") or response.headers.get("Content-Type", "")
        platforms = [entry.get("platform", {}) for entry in manifest.get("manifests", ())]
    except (ValueError, AttributeError, TypeError):
        raise InfrastructureError(f"The registry sent no manifest of {image}.") from None
    if kind not in {*INDEX_TYPES, *MANIFEST_TYPES}:
        raise InfrastructureError(f"The registry sent {kind[:100]!r} instead of a manifest of {image}.")
    if kind in INDEX_TYPES and not any(PLATFORM.items() <= platform.items() for platform in platforms):
        raise InfrastructureError(
            f"{image} has no image for linux/amd64.", hint="Choose another tag in deploy/images.toml."
        )
    return digest


def _hint(status: int) -> str:
    if status == httpx.codes.TOO_MANY_REQUESTS:
        return "The registry limits requests without an account. Retry later."
    return "Check the name and the tag in deploy/images.toml; base images must be public."
