"""The image as it would run: its own entry point and user, a root that cannot be written, its health check, SIGTERM.

`deploy/build_image` has made it. In an engine's place `chroot` runs what the image's own configuration names.
"""

import asyncio
import json
import os
import subprocess
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import precis
import pytest

from tests.integration.support.programs import unused_port

pytestmark = pytest.mark.image

IMAGE = "localhost/precis"
NOT_SERVED = {"onnx", "ml_dtypes", "zstandard", "huggingface_hub", "hf_xet", "fsspec", "pip", "torch", "onnxruntime"}
READ_ONLY_ROOT = """
set -e
mount --bind "$1" "$2"
mount -o remount,ro,bind "$2"
mount -t tmpfs tmpfs "$2/tmp"
mount -t tmpfs -o uid=10001,gid=10001 tmpfs "$2/var/lib/precis"
mount -t proc proc "$2/proc"
inside=$2
shift 2
exec chroot --userspec=10001:10001 "$inside" env -i "$@"
"""


def buildah(*arguments: str) -> str:
    """Runs one command of buildah, and returns what it printed."""
    environment = {**os.environ, "STORAGE_DRIVER": "vfs", "BUILDAH_ISOLATION": "chroot"}
    return subprocess.run(["buildah", *arguments], check=True, text=True, stdout=PIPE, env=environment).stdout.strip()


class Image:
    """The image, mounted; what it runs can write to /tmp and /var/lib/precis alone."""

    def __init__(self, root: Path, mount_point: Path, config: dict[str, Any]) -> None:
        self.root = root
        self.config = config
        self._mount_point = mount_point

    async def start(self, command: Sequence[str], **settings: object) -> Process:
        """Starts a command as the image's user, with the image's variables."""
        variables = [*self.config["Env"], *(f"PRECIS_{name}={value}" for name, value in settings.items())]
        mounts = ("sh", "-c", READ_ONLY_ROOT, "sh", str(self.root), str(self._mount_point))
        return await asyncio.create_subprocess_exec(
            *("unshare", "--mount", "--propagation=private", *mounts, *variables, *command), stdout=PIPE, stderr=PIPE
        )

    async def code_of(self, command: Sequence[str], **settings: object) -> int:
        """Runs a command until it ends."""
        process = await self.start(command, **settings)
        await process.communicate()
        assert process.returncode is not None
        return process.returncode


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    config = json.loads(buildah("inspect", "--type", "image", IMAGE))["Docker"]["config"]
    container = buildah("from", "--pull-never", IMAGE)
    yield Image(Path(buildah("mount", container)), tmp_path_factory.mktemp("root"), config)
    buildah("rm", container)


def test_its_configuration_names_the_user_the_ports_and_the_signal(image: Image) -> None:
    assert image.config["User"] == "10001:10001"
    assert set(image.config["ExposedPorts"]) == {"50051/tcp", "8080/tcp", "9464/tcp"}
    assert image.config["StopSignal"] == "SIGTERM"
    assert (image.config["Entrypoint"], image.config["Cmd"]) == (["precis"], ["serve"])


def test_it_holds_no_package_that_serves_nothing_and_no_compiler(image: Image) -> None:
    [packages] = image.root.glob("opt/precis/lib/python3*/site-packages")
    assert {"starlette", "psycopg", "opentelemetry"} <= {path.name for path in packages.iterdir()}
    assert not NOT_SERVED & {path.name for path in packages.iterdir()}
    assert {file.name for file in image.root.glob("models/*/*")} == {
        *("README.md", "core.bin", "manifest.json", "tokenizer.json")
    }
    assert not (image.root / "usr" / "bin" / "uv").exists()
    assert not list(image.root.glob("usr/bin/*gcc*"))


async def test_it_writes_nowhere_but_where_it_says(image: Image) -> None:
    folders = ("/tmp", "/var/lib/precis", "/opt/precis", "/models")  # noqa: S108 - the image's own
    codes = [await image.code_of(["sh", "-c", f"echo > {folder}/file"]) for folder in folders]
    assert [code == 0 for code in codes] == [True, True, False, False]


async def test_it_serves_both_ports_is_healthy_while_it_does_and_ends_by_sigterm(image: Image) -> None:
    grpc, http, metrics = unused_port(), unused_port(), unused_port()
    ports = {"LISTEN__PORT": grpc, "HTTP__ENABLED": "true", "HTTP__PORT": http, "METRICS__PORT": metrics}
    is_command, *health = image.config["Healthcheck"]["Test"]
    assert is_command == "CMD"
    server = await image.start([*image.config["Entrypoint"], *image.config["Cmd"]], **ports)
    try:
        assert server.stdout is not None
        assert b"is serving" in await server.stdout.readline()
        assert await image.code_of(health, **ports) == 0
        async with precis.AsyncClient(f"127.0.0.1:{grpc}") as client:
            assert (await client.judge("The pump is red.", "The pump is red.")).hallucination > 9
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{http}", trust_env=False) as browser:
            answer = await browser.post("/v1/embeddings", json={"input": "The pump is red."})
        assert len(answer.json()["data"][0]["embedding"]) == 384
        server.terminate()
        assert await server.wait() == 0
        assert await image.code_of(health, **ports) != 0
    finally:
        if server.returncode is None:
            server.kill()
            await server.wait()
