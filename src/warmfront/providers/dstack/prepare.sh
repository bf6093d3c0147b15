# Points the listener at what its image has. Nothing is installed on a VM: an image that lacks something ends the task.
if [ -f warmfront-listener/package.tar.gz ]; then
  tar -xzf warmfront-listener/package.tar.gz -C warmfront-listener && rm warmfront-listener/package.tar.gz || exit 1
fi
if [ -d /opt/rocm ]; then
  shared=/opt/warmfront
  ours=/opt/warmfront-image
  locked=warmfront-listener/warmfront/listener/requirements.txt
  if [ ! -f "$ours/requirements.txt" ]; then
    echo "The image $WARMFRONT_WORKER_IMAGE has no $ours: build it with \`warmfront image build\`." >&2
    exit 1
  fi
  if [ -f "$locked" ] && ! cmp -s "$locked" "$ours/requirements.txt"; then
    echo "The image $WARMFRONT_WORKER_IMAGE has other Python packages than this service: build it again." >&2
    exit 1
  fi
  export PATH="$ours/venv/bin:/opt/rocm/bin:$PATH" ROCM_PATH=/opt/rocm
  # Boxes are in a tmpfs, which is fast: dstack gives AMD tasks the /dev/shm of the host.
  export WARMFRONT_SANDBOX=docker WARMFRONT_BOX_DIR=/dev/shm/warmfront WARMFRONT_CACHE_DIR="$shared/cache"
  # Boxes use the worker's own image, which is on the VM already and has the compiler.
  export WARMFRONT_DOCKER_IMAGE="$WARMFRONT_WORKER_IMAGE" WARMFRONT_DOCKER_IMAGE_DIRS="$(readlink -f /opt/rocm):$ours"
  # The host's Docker daemon mounts the built guest and our package into boxes, so they must exist at host paths, too.
  mkdir -p "$shared/cache" && cp -an "$ours/cache/." "$shared/cache/" || exit 1
  if [ -d warmfront-listener ]; then
    rm -rf "$shared/listener" && cp -a warmfront-listener "$shared/listener" || exit 1
    export WARMFRONT_LISTENER_DIR="$shared/listener"
  fi
  # For `warmfront doctor --gpu` in a shell on the VM, which does not have the task's variables.
  for name in PATH ROCM_PATH WARMFRONT_SANDBOX WARMFRONT_BOX_DIR WARMFRONT_CACHE_DIR WARMFRONT_DOCKER_IMAGE WARMFRONT_DOCKER_IMAGE_DIRS WARMFRONT_LISTENER_DIR WARMFRONT_GPU; do
    eval "printf \"export %s='%s'\\n\" $name \"\${$name-}\""
  done >"$ours/environment" || exit 1
fi
