"""Summaries in this process, written by an endpoint that the command line names.

No port is opened and no server is asked: one that called whatever address its callers name, with whatever key, could
be sent anywhere inside its network. Nor does the key of another endpoint ever go to the one that is named here. The
service answers on a socket in a folder of its own, which nobody else can read, and is called as any server is.
"""

import logging
import shlex
import tempfile
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import grpc
from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import add_SummarizeServiceServicer_to_server
from prometheus_client import CollectorRegistry

from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import LlmError
from pipeline.llm.openai import OpenAiChatModel
from pipeline.summarize.errors import StorageError
from pipeline.summarize.gate.gate import TrustGate
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.summarizer import open_summarizer
from server.backends import ChosenWriter, behind_gate
from server.cli.commands.summarize import EndpointOptions
from server.cli.connection import CommandClient
from server.cli.errors import InputError
from server.cli.options import Connection
from server.cli.summarize.run import open_summaries
from server.errors import StartupError
from server.observe import tracing
from server.observe.metrics import CallMetrics
from server.rpc.calls import CallRunner
from server.rpc.handlers import HandlerTable
from server.services.summarize import SummarizeServicer
from server.settings import Settings, load_settings

_ANY_SIZE = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))


@asynccontextmanager
async def local_client(endpoint: EndpointOptions, timeout_s: float | None) -> AsyncIterator[CommandClient]:
    """Opens the endpoint and the stored summaries for one command. Raises CliError."""
    logging.getLogger().addHandler(logging.NullHandler())  # the view says what matters
    llm = {"base_url": endpoint.url, "model": endpoint.model, "api_key": None, "api_key_file": endpoint.key_file}
    async with AsyncExitStack() as stack:
        try:
            settings = load_settings(overrides={"llm": llm})  # as a server would, but for the endpoint and its key
            stack.enter_context(tracing.configured(settings.tracing))
            address = await _serve(stack, settings, await _open_servicer(stack, settings))
        except (StartupError, LlmError, StorageError) as error:
            raise InputError(str(error)) from error
        client = await stack.enter_async_context(open_summaries(Connection(address), timeout_s))
        key = f" --api-key-file {shlex.quote(str(endpoint.key_file))}" if endpoint.key_file else ""
        client.flags = f" --endpoint {shlex.quote(endpoint.url)} --model {shlex.quote(endpoint.model)}{key}"
        yield client


async def _serve(stack: AsyncExitStack, settings: Settings, servicer: SummarizeServicer) -> str:
    """Offers the service on a socket; returns its address."""
    table: Any = HandlerTable(CallRunner(settings.listen, CallMetrics(CollectorRegistry()), ok_call_sample=0))
    add_SummarizeServiceServicer_to_server(servicer, table)  # asks for a server, and uses two methods that it has
    table.open()
    server = grpc.aio.server(options=_ANY_SIZE)
    server.add_generic_rpc_handlers((table,))
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="precis-"))
    server.add_insecure_port(address := f"unix:{folder}/socket")
    await server.start()
    stack.push_async_callback(server.stop, None)
    return address


async def _open_servicer(stack: AsyncExitStack, settings: Settings) -> SummarizeServicer:
    llm = settings.llm
    assert llm is not None, "local_client names one"  # noqa: S101 - our own bug if not
    cpu = stack.enter_context(ThreadPoolExecutor(settings.services.cpu_threads, "precis-summaries"))
    chat = OpenAiChatModel(await stack.enter_async_context(Endpoint(llm)))
    writer = LlmWriter(chat, settings.llm_writer, prices=llm.prices, concurrency=llm.rates.max_concurrency)
    gate = TrustGate(settings.summary_trust, support=settings.judge.evidence, executor=cpu)  # no model is loaded here
    chosen = ChosenWriter(behind_gate(writer, gate), pb.WRITER_KIND_LANGUAGE_MODEL)
    summarizer = await stack.enter_async_context(open_summarizer(settings.summarize, settings.summary_storage))
    return SummarizeServicer(summarizer, chosen, chunk_tokens=settings.services.chunk_tokens, cpu=cpu)
