"""Reads the metrics server."""

import asyncio
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

from server.app import App


async def scrape(app: App) -> dict[str, float]:
    """Returns all samples by name and sorted label values."""

    def read() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{app.metrics_port}/metrics") as answer:
            return str(answer.read().decode())

    text = await asyncio.to_thread(read)
    return {
        ",".join([sample.name, *sorted(sample.labels.values())]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
