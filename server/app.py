"""The served process: the one place that builds things, and the one order in which they start and stop."""

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Self

from precis.calls import INFERENCE, SERVICES, SUMMARIZE
from precis.oip.open_inference_pb2_grpc import add_GRPCInferenceServiceServicer_to_server
from precis.v1.evaluate_pb2_grpc import add_EvaluateServiceServicer_to_server
from precis.v1.inference_pb2_grpc import add_InferenceServiceServicer_to_server
from precis.v1.judge_pb2_grpc import add_JudgeServiceServicer_to_server
from precis.v1.summarize_pb2_grpc import add_SummarizeServiceServicer_to_server

from inference.engine import Engine
from inference.errors import InferenceError
from inference.models.model import OpenBackend, open_session
from pipeline.errors import needs_extra
from pipeline.summarize.errors import StorageError
from pipeline.summarize.jobs import JobRunner
from pipeline.summarize.summarizer import Summarizer, open_summarizer
from server.backends import Backends, ChosenWriter, choose_writer, open_backends
from server.errors import StartupError
from server.observe.health import HealthServicer, add_reflection
from server.observe.metrics import BatchMetrics, CallMetrics, EngineCollector, new_registry, show_models
from server.observe.metrics_server import offered
from server.observe.service_metrics import EvaluateMetrics, SummaryMetrics
from server.oip.inferences import open_inferences
from server.oip.servicer import SERVICE as OPEN_INFERENCE
from server.oip.servicer import OpenInferenceServicer
from server.rpc.admission import MIB
from server.rpc.auth import KeyRing
from server.rpc.calls import CallRunner
from server.rpc.connections import Connections, fitting
from server.rpc.handlers import HandlerTable
from server.rpc.listener import CertificateStore, Listener, address_of, bound, certificate_store, exposure
from server.rpc.models import to_identity
from server.rpc.streams import end
from server.services.evaluate import EvaluateServicer
from server.services.inference import InferenceServicer
from server.services.judge import JudgeServicer
from server.services.summarize import SummarizeServicer
from server.settings import Settings

if TYPE_CHECKING:
    from server.http.http_server import HttpServer

logger = logging.getLogger(__name__)


class App:
    """The whole server. Enter it to start, leave it to stop.

    Start, the cheap things that may be wrong first: certificates, keys, port, metrics, listen, stored summaries,
    models, the language model's connections, health SERVING.
    Stop, from the front: health NOT_SERVING, refuse new calls, put summaries aside, finish the other calls in flight,
    then the rest backwards.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        cut_short: asyncio.Event | None = None,
        open_backend: OpenBackend = open_session,
        listens: bool = True,
    ) -> None:
        """Takes what differs from one server to another; `open_backend` is the seam to the hardware.

        Without `listens` gRPC has no port: calls come from this process, through `tables`.
        """
        self.cut_short = cut_short or asyncio.Event()  # set it to end a drain before its grace is over
        self.address = ""  # host and port of the gRPC server, once entered
        self.metrics_port = 0  # of the metrics server, once entered; 0 when there is none
        self.http_port = 0  # of the HTTP listener, likewise
        self._settings = settings
        self._open_backend = open_backend
        self._listens = listens
        self._listen_config = settings.listen
        self.tables: tuple[HandlerTable, ...] = ()  # all methods, those of probes first, once entered
        self._registry = new_registry()
        self._stopping = asyncio.Event()  # told to the streams that clients hold open
        self._stack = AsyncExitStack()
        self._certificates: CertificateStore | None = None
        self._keys: KeyRing | None = None
        self._http: HttpServer | None = None

    async def __aenter__(self) -> Self:
        started_s = time.monotonic()
        settings = self._settings
        self._certificates = certificate_store(settings.tls)
        self._keys = KeyRing(settings.auth.keys_file) if settings.auth.keys_file else None
        if self._listens:
            bound(settings.listen, reuse_port=settings.listen.reuse_port).close()
            fit = fitting(settings.listen.max_connections, 1 + settings.http.enabled)
            self._listen_config = settings.listen.model_copy(update={"max_connections": fit})
        async with AsyncExitStack() as stack:
            await self._start(stack)
            self._stack = stack.pop_all()
        logger.info(
            "event=serving address=%s metrics_port=%d http_port=%d start_s=%.1f",
            *(self.address, self.metrics_port, self.http_port, time.monotonic() - started_s),
        )
        if self._listens:
            self._warn_if_exposed()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()
        logger.info("event=stopped")

    def reload(self) -> None:
        """Reads certificates and keys again; what cannot be read stays as it was."""
        for source in (self._certificates, self._keys):
            if source is not None:
                try:
                    source.reload()
                except StartupError:
                    logger.exception("event=reload_failed")
                else:
                    logger.info("event=reloaded source=%s", type(source).__name__)

    def _warn_if_exposed(self) -> None:
        settings, tls = self._settings, self._settings.tls
        has_keys, has_tls = bool(settings.auth.keys_file or tls.client_ca_file), tls.certificate_file is not None
        hosts = {settings.listen.host: self.address}
        if settings.http.enabled:
            hosts.setdefault(settings.http.host, address_of(settings.http.host, self.http_port))
        for host, address in hosts.items():
            if reason := exposure(host, has_keys=has_keys, has_tls=has_tls):
                logger.warning("event=exposed address=%s reason=%r", address, reason)

    async def _start(self, stack: AsyncExitStack) -> None:
        settings, registry = self._settings, self._registry
        health = HealthServicer(SERVICES)
        offer = offered(settings.metrics, registry, lambda: health.is_serving)
        self.metrics_port = stack.enter_context(offer)
        runner = CallRunner(
            settings.listen,
            CallMetrics(registry),
            keys=self._keys,
            quotas=settings.auth.quotas,
            ok_call_sample=settings.log.ok_call_sample,
        )
        most_bytes = dict.fromkeys((INFERENCE.full_name, OPEN_INFERENCE), settings.listen.max_list_mib * MIB)
        services = HandlerTable(runner, limits=most_bytes, is_traced=settings.tracing.endpoint is not None)
        probes = HandlerTable(None)
        health.add_to(probes)
        self.tables = (probes, services)
        # From now on probes are told NOT_SERVING, and calls that it starts. Who shares a port leaves it to the others.
        is_alone = not settings.listen.reuse_port
        listener = await self._listen(stack, health, runner) if is_alone else None
        summary_metrics = SummaryMetrics(registry)
        summarizer = await self._open_summaries(stack, summary_metrics)
        engine = await self._open_engine(stack, health)
        backends = await open_backends(stack, engine, settings.llm, registry=registry)
        chosen = self._add_services(services, stack, engine, backends, summarizer)
        runs = JobRunner(summarizer, chosen.writer, runner.on_behalf) if chosen else None
        jobs = await stack.enter_async_context(runs) if runs else None
        summary_metrics.written_by(chosen)
        check_s = settings.summary_storage.check_s
        await stack.enter_async_context(health.watching(SUMMARIZE.full_name, summarizer.store.check, check_s))
        if not is_alone:
            listener = await self._listen(stack, health, runner)
        stack.push_async_callback(self._drain, health, listener, summarizer, jobs)
        services.open()
        health.open()

    async def _listen(self, stack: AsyncExitStack, health: HealthServicer, runner: CallRunner) -> Listener | None:
        settings, listener = self._settings, None
        if self._listens:
            listener = Listener(self._listen_config, self.tables, self._certificates)
            stack.push_async_callback(listener.close)
            await listener.start()
            self.address = address_of(settings.listen.host, listener.port)
        if settings.http.enabled:
            self._http = self._bind_http(stack)
            has_keys = self._keys is not None or settings.tls.client_ca_file is not None
            await self._http.start(self.tables[-1], lambda: health.is_serving, has_keys=has_keys)
        for port in {listener.port if listener else 0, self.http_port} - {0}:
            connections = Connections(port, self._listen_config.max_connections, runner.is_busy)
            stack.push_async_callback(end, asyncio.create_task(connections.watch(), name="precis-connections"))
        return listener

    async def _open_engine(self, stack: AsyncExitStack, health: HealthServicer) -> Engine:
        settings, registry = self._settings, self._registry
        observe = BatchMetrics(registry).batch_finished
        engine = Engine(settings.models_dir, settings.inference, observe=observe, open_backend=self._open_backend)
        engine.on_ready = health.set_ready
        try:
            await stack.enter_async_context(engine)
        except InferenceError as error:
            raise StartupError(str(error)) from error
        health.set_ready(engine.is_ready)
        registry.register(EngineCollector(engine.statistics))
        show_models(registry, {role: to_identity(model.directory) for role, model in engine.models.items()})
        return engine

    def _add_services(
        self, table: HandlerTable, stack: AsyncExitStack, engine: Engine, backends: Backends, summarizer: Summarizer
    ) -> ChosenWriter | None:
        """Offers all services; returns who writes summaries, if anybody."""
        settings, stopping = self._settings, self._stopping

        def threads(name: str) -> ThreadPoolExecutor:
            """Makes a service's own: reading a book for one must not hold up another."""
            return stack.enter_context(ThreadPoolExecutor(settings.services.cpu_threads, name))

        chosen = choose_writer(settings, backends, cpu=(writing := threads("precis-summaries")))
        evaluate_metrics, cpu = EvaluateMetrics(self._registry), threads("precis-cpu")
        evaluate = EvaluateServicer(backends.scoring, settings, evaluate_metrics, cpu=cpu, stopping=stopping)
        judge = JudgeServicer(settings, backends, self._registry, cpu=threads("precis-judge"), stopping=stopping)
        open_inference = OpenInferenceServicer(engine, open_inferences(engine, settings.limits, judge), stopping)
        summarize = SummarizeServicer(summarizer, chosen, chunk_tokens=settings.services.chunk_tokens, cpu=writing)
        server: Any = table  # the generated functions ask for a server and use two methods, which the table has
        inference = InferenceServicer(engine, settings.limits)
        table.checks.update(inference.checks())
        add_InferenceServiceServicer_to_server(inference, server)
        add_EvaluateServiceServicer_to_server(evaluate, server)
        add_JudgeServiceServicer_to_server(judge, server)
        open_inference.add_unoffered_to(table)
        add_GRPCInferenceServiceServicer_to_server(open_inference, server)
        add_SummarizeServiceServicer_to_server(summarize, server)
        add_reflection(table, (*SERVICES, OPEN_INFERENCE), stopping)
        return chosen

    async def _open_summaries(self, stack: AsyncExitStack, metrics: SummaryMetrics) -> Summarizer:
        settings = self._settings
        opened = open_summarizer(settings.summarize, settings.summary_storage, observer=metrics)
        try:
            return await stack.enter_async_context(opened)
        except StorageError as error:
            raise StartupError(f"summary_storage: {error}") from error

    async def _drain(
        self, health: HealthServicer, listener: Listener | None, summarizer: Summarizer, jobs: JobRunner | None
    ) -> None:
        logger.info("event=stopping grace_s=%.1f", self._settings.listen.grace_s)
        health.stop()
        for table in self.tables:
            table.close()
        self._stopping.set()
        summarizer.put_aside()
        http = [self._http.drain(self.cut_short)] if self._http else []
        runs = [jobs.drain(self._settings.listen.grace_s, self.cut_short)] if jobs else []
        calls = [listener.drain(self.cut_short)] if listener else []
        await asyncio.gather(*calls, *http, *runs)

    def _bind_http(self, stack: AsyncExitStack) -> "HttpServer":
        try:
            from server.http.http_server import HttpServer  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise StartupError(f"http.enabled {needs_extra('http')} ({error})") from error
        server = HttpServer(self._settings.http, self._listen_config, self._certificates)
        stack.push_async_callback(server.close)
        self.http_port = server.port
        return server
