# Installs what a listener needs on a VM and the image may lack. Without ROCm there is nothing to do.
if [ -d /opt/rocm ]; then
  shared=/opt/warmfront
  if ! python3 -c 'import docker, httpx, numpy, starlette, uvicorn' 2>/dev/null; then
    # As root, beside the Docker socket: only files whose hashes we know, and no build scripts.
    locked=warmfront-listener/warmfront/listener/requirements.txt
    [ -f "$locked" ] || { echo "The image lacks the listener's packages, and there is no $locked to install." >&2; exit 1; }
    command -v pip3 >/dev/null || { apt-get -qq update && apt-get -qq install -y --no-install-recommends python3-pip; } || exit 1
    pip3 install --quiet --break-system-packages --require-hashes --only-binary :all: -r "$locked" || exit 1
  fi
  # The host's Docker daemon mounts the compiler into each box, so it must exist at a host path, too.
  if [ ! -d "$shared/rocm" ]; then
    cp -a "$(readlink -f /opt/rocm)" "$shared/rocm.$$" && mv "$shared/rocm.$$" "$shared/rocm" || exit 1
  fi
  export PATH="$shared/rocm/bin:$PATH" ROCM_PATH="$shared/rocm"
  export WARMFRONT_SANDBOX=docker WARMFRONT_BOX_DIR="$shared/boxes" WARMFRONT_CACHE_DIR="$shared/cache"
  # The worker's own image is already on the VM; any other image is pulled once.
  export WARMFRONT_DOCKER_IMAGE="${WARMFRONT_DOCKER_IMAGE:-$WARMFRONT_WORKER_IMAGE}"
  python3 -c 'import docker, os
images, name = docker.from_env().images, os.environ["WARMFRONT_DOCKER_IMAGE"]
try: images.get(name)
except docker.errors.ImageNotFound: images.pull(name)' || exit 1
fi
