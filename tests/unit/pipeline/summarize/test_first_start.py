"""Servers that start on a Postgres in which nothing is yet."""

import asyncio

from psycopg import AsyncConnection

from tests.unit.pipeline.summarize.documents import summarizer_in


async def test_servers_that_start_together_on_an_empty_postgres_all_start(postgres_url: str) -> None:
    async with await AsyncConnection.connect(postgres_url, autocommit=True) as connection:
        await connection.execute("CREATE DATABASE together")
    url = postgres_url.replace("/postgres?", "/together?")

    async def start() -> None:
        async with summarizer_in(url):
            pass

    async with asyncio.TaskGroup() as tasks:
        for _ in range(6):
            tasks.create_task(start())
