"""The program `precis` against a real server: what it prints, and how it exits."""

import json
from pathlib import Path

import pytest
import trustme
from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from precis.calls import SERVICES
from precis.v1 import evaluate_pb2 as pb

from server.app import App
from tests.integration.conftest import Start
from tests.integration.evaluate.evaluations import evaluate_request
from tests.integration.support.gate import Gate
from tests.integration.support.programs import fields_of, precis, unused_port, written


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """A file with one summary."""
    return written(tmp_path / "one.json", fields_of(evaluate_request()))


@pytest.fixture
def comparison(tmp_path: Path) -> Path:
    """A file with a summary and one that fails hard."""
    fields = fields_of(evaluate_request())
    good = fields.pop("generated")
    fields["candidates"] = [{"name": "good", **good}, {"name": "cut", "text": "W1 w2 w3 and"}]
    return written(tmp_path / "two.json", fields)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_one_summary_is_a_table_of_components_and_what_was_missed(app: App, document: Path) -> None:
    ended = await precis("evaluate", document, "--address", app.address)
    assert (ended.code, ended.err) == (0, "")
    assert all(name in ended.out for name in ("Loss", "facts", "entities", "flow", "semantic", "length"))
    assert "Entities missing (" in ended.out
    assert "w199  most similar: " in ended.out
    assert "\x1b" not in ended.out  # piped: no colours


async def test_json_is_the_whole_response(app: App, document: Path) -> None:
    ended = await precis("evaluate", document, "--json", "-a", app.address)
    [result] = json.loads(ended.out)["results"]
    response = json_format.ParseDict(result["response"], pb.EvaluateResponse())
    assert result["id"] == "generated"
    assert 0 < response.loss < 1
    assert len(response.facts.facts) == 10
    assert result["response"]["flow"]["inversion_count"] == 0  # zeros are written out


async def test_standard_input_and_summary_files_are_read(app: App, tmp_path: Path) -> None:
    fields = fields_of(evaluate_request())
    summary = tmp_path / "mine.txt"
    summary.write_text(fields["generated"]["text"], encoding="utf-8")
    gold = json.dumps(fields["datum"]).encode()
    ended = await precis("evaluate", "-", "--summary", summary, "--json", "-a", app.address, stdin=gold)
    assert [result["id"] for result in json.loads(ended.out)["results"]] == ["mine.txt"]


async def test_results_are_written_to_a_file_whole_or_not_at_all(app: App, document: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    output.write_text("old", encoding="utf-8")
    refused = await precis("evaluate", document, "-o", output, "-a", f"127.0.0.1:{unused_port()}")
    assert (refused.code, output.read_text(encoding="utf-8")) == (3, "old")
    ended = await precis("evaluate", document, "-o", output, "-a", app.address)
    assert "facts" in ended.out
    assert json.loads(output.read_text(encoding="utf-8"))["results"][0]["response"]["loss"] > 0
    assert names_in(tmp_path) == ["one.json", "out.json"]


async def test_a_loss_over_the_limit_exits_with_1(app: App, comparison: Path) -> None:
    ended = await precis("evaluate", comparison, "--fail-over", "0.99", "-a", app.address)
    assert ended.code == 1
    assert ended.error == "precis: loss over the limit: cut: 1.0000 > 0.99"
    assert (await precis("evaluate", comparison, "--fail-over", "1", "-a", app.address)).code == 0


async def test_a_bad_file_and_a_refused_field_are_one_line_that_says_what_is_wrong(app: App) -> None:
    for content, message in (
        (b"{", "not JSON"),
        (b'{"generated": {"text": ""}}', "datum: expected a value, got nothing"),
    ):
        ended = await precis("evaluate", "-", "-a", app.address, stdin=content)
        assert ended.code == 2
        assert ended.error.startswith("precis: ")
        assert message in ended.error


async def test_an_address_that_is_another_port_says_what_to_write(start: Start, tmp_path: Path) -> None:
    async with start() as app:
        metrics = await precis("health", "-a", f"127.0.0.1:{app.metrics_port}")
        assert metrics.code == 2
        assert "write HOST:PORT of the server, and not of its metrics" in metrics.error


async def test_a_server_that_is_too_slow_is_said_to_be_slow(app: App, document: Path, gate: Gate) -> None:
    gate.close()
    ended = await precis("evaluate", document, "--timeout", "0.5", "-a", app.address)
    assert ended.code == 3
    assert "raise --timeout" in ended.error


async def test_keys_and_certificates_that_cannot_be_read_are_named(app: App, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    empty = written(tmp_path / "empty", "")
    empty.write_text("\n", encoding="utf-8")
    for arguments in (["--api-key-file", missing], ["--tls-ca", missing], ["--api-key-file", empty]):
        ended = await precis("summaries", "list", "-a", app.address, *arguments)
        assert ended.code == 2
        assert str(arguments[1]) in ended.error


async def test_the_key_is_sent(start: Start, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("secret\n", encoding="utf-8")
    async with start(auth={"keys_file": keys}) as app:
        without = await precis("summaries", "list", "-a", app.address)
        assert (without.code, "wants an API key" in without.error, "--api-key-file" in without.error) == (2, True, True)
        other = written(tmp_path / "wrong", "key")
        wrong = await precis("summaries", "list", "-a", app.address, "--api-key-file", other)
        assert (wrong.code, f"does not know the API key in {other}" in wrong.error) == (2, True)
        assert (await precis("summaries", "list", "-a", app.address, "--api-key-file", keys)).code == 0


async def test_health_tells_each_service(app: App, gate: Gate) -> None:
    ended = await precis("health", "-a", app.address, "--json")
    assert ended.code == 0
    assert json.loads(ended.out) == dict.fromkeys(("server", *SERVICES), "SERVING")
    unknown = await precis("health", "-a", app.address, "--service", "precis.v1.Nothing")
    assert (unknown.code, unknown.error) == (1, "precis: not serving: precis.v1.Nothing")


async def test_the_contract_is_whole_and_in_the_order_of_its_imports(tmp_path: Path) -> None:
    ended = await precis("contract", "--output", tmp_path / "precis.pb")
    assert (ended.code, ended.err, ended.out) == (0, "", "")
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString((tmp_path / "precis.pb").read_bytes()).file:
        pool.AddSerializedFile(file.SerializeToString())  # fails on an import that has not been added
    for service in SERVICES:
        assert pool.FindServiceByName(service).methods
    assert pool.FindMessageTypeByName("google.rpc.RetryInfo").full_name == "google.rpc.RetryInfo"


def certificate(path: Path, *blobs: trustme.Blob) -> Path:
    path.write_bytes(b"".join(blob.bytes() for blob in blobs))
    return path


async def test_certificates_are_given_by_options(start: Start, tmp_path: Path) -> None:
    servers, clients = trustme.CA(), trustme.CA()
    server, client = servers.issue_cert("localhost"), clients.issue_cert("client")
    tls = {
        "certificate_file": certificate(tmp_path / "server.pem", *server.cert_chain_pems),
        "key_file": certificate(tmp_path / "server.key", server.private_key_pem),
        "client_ca_file": certificate(tmp_path / "clients.pem", clients.cert_pem),
    }
    authority = certificate(tmp_path / "servers.pem", servers.cert_pem)
    identity = (
        *("--tls-cert", certificate(tmp_path / "client.pem", *client.cert_chain_pems)),
        *("--tls-key", certificate(tmp_path / "client.key", client.private_key_pem)),
    )
    async with start(tls=tls) as app:
        address = app.address.replace("127.0.0.1", "localhost")
        assert (await precis("health", "-a", address, "--tls-ca", authority, *identity)).code == 0
        stranger = await precis("health", "-a", address, "--tls-ca", tls["client_ca_file"], *identity)
        assert stranger.code == 3
        assert f"cannot reach {address} over TLS" in stranger.error
        assert "--tls-ca" in stranger.error
        plain = await precis("health", "-a", address)
        assert plain.code == 3
        assert "if it wants TLS, give --tls-ca" in plain.error
    async with start() as app:
        encrypted = await precis("health", "-a", app.address, "--tls-ca", authority)
        assert (encrypted.code, "speaks plaintext, not TLS: leave out --tls-ca" in encrypted.error) == (2, True)
