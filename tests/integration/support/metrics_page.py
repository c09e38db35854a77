"""Reads the metrics server."""

import asyncio
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

from server.app import App


async def scrape(app: App) -> dict[str, float]:
    """Returns all samples of a server by name and sorted label values."""
    return await scrape_port(app.metrics_port)


async def scrape_port(port: int) -> dict[str, float]:
    """Returns all samples of the server whose metrics have this port."""
    return {
        ",".join([sample.name, *sorted(sample.labels.values())]): sample.value
        for family in text_string_to_metric_families(await read_page(port))
        for sample in family.samples
    }


async def read_page(port: int) -> str:
    """Returns the page itself."""

    def read() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            return str(answer.read().decode())

    return await asyncio.to_thread(read)
