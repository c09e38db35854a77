"""Many items on a Ray cluster: actors that each hold a whole server, with its models, for a group of cores.

The command reads items, writes results and resumes as it does without Ray: only a call goes another way. An actor that
dies is started again and its calls are made again; a call that its actors did not survive fails alone.
"""

import asyncio
import importlib
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message
from precis.calls import Call
from precis.errors import Internal, PrecisError
from precis.rich_status import RichStatus

from pipeline.errors import needs_extra
from server.cli.connection import CommandClient, LocalCommandClient
from server.cli.console import print_note
from server.cli.errors import CliError, InputError
from server.cli.options import RunOptions

T = TypeVar("T")

_MAX_RETRIES = 2  # of a call whose actor died under it


class ServerActor:
    """A server in a process of Ray's, which answers the calls of one command.

    Args:
        cores: worker threads of its models.
        timeout_s: longest wait for a call.
    """

    def __init__(self, cores: int, timeout_s: float) -> None:
        self._client = LocalCommandClient({"inference": {"runtime": {"workers": cores}}}, timeout_s=timeout_s)
        self._starting: asyncio.Task[LocalCommandClient] | None = None

    async def call(self, path: str, request: Message) -> bytes | PrecisError:
        """Returns the response as bytes, or why there is none. The first call waits for the models."""
        self._starting = self._starting or asyncio.create_task(self._client.__aenter__())
        client = await self._starting
        try:
            return await client.send(Call(path, request, bytes))
        except PrecisError as error:
            return error  # not raised: Ray would wrap it, and start the call again

    async def stop(self) -> None:
        """Stops the server."""
        await self._client.close()


class ClusterClient(CommandClient):
    """Sends calls to actors instead of an address, each to the one that has the fewest.

    Attributes:
        width: how many actors there are.
    """

    def __init__(self, actors: list[Any], lost: tuple[type[Exception], ...]) -> None:
        super().__init__()
        self._actors = actors
        self._lost = lost
        self._busy = Counter(dict.fromkeys(range(len(actors)), 0))
        self.width = len(actors)

    async def _send(self, call: Call[T], timeout_s: float | None) -> T:
        number = min(self._busy, key=self._busy.__getitem__)
        self._busy[number] += 1
        try:
            answer = await self._actors[number].call.remote(call.path, call.request)
        except self._lost as error:
            status = RichStatus(grpc.StatusCode.INTERNAL, "its worker died, and so did those after it", "WORKER_LOST")
            raise Internal(status) from error
        finally:
            self._busy[number] -= 1
        if isinstance(answer, PrecisError):
            raise answer
        return call.parse(answer)


@asynccontextmanager
async def open_cluster(options: RunOptions) -> AsyncIterator[ClusterClient]:
    """Starts actors on the cluster of RAY_ADDRESS, or else on this machine; ends them. Raises CliError."""
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        raise InputError(f"--engine ray {needs_extra('ray')}") from error
    settings = {name: value for name, value in os.environ.items() if name.startswith("PRECIS_")}
    ray.init(runtime_env={"env_vars": settings}, log_to_driver=False, logging_level="error")
    try:
        cores = options.cores
        count = options.workers or max(1, int(ray.cluster_resources().get("CPU", 1)) // cores)
        print_note(f"{count} workers of {cores} cores on Ray")
        actor = ray.remote(num_cpus=cores, max_restarts=-1, max_task_retries=_MAX_RETRIES)(ServerActor)
        # The actor's own limit must not be the one that decides: items in work are bounded here.
        actors = [
            actor.options(max_concurrency=options.concurrency + 1).remote(cores, options.timeout_s)
            for _ in range(count)
        ]
        yield ClusterClient(actors, (ray.exceptions.RayActorError,))
        await asyncio.gather(*(one.stop.remote() for one in actors))
    except (ray.exceptions.RayTaskError, ray.exceptions.RuntimeEnvSetupError) as error:
        raise CliError(f"a worker could not start: {str(error).splitlines()[-1]}") from error
    finally:
        ray.shutdown()
