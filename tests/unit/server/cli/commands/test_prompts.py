import json
from pathlib import Path

import pytest

from pipeline.prompts.prompts import built_in
from server.cli.main import run

HEAD = "version: 7\nrole: writer\nasks: Topics.\n\n"
OWN = f"{HEAD}--- lines\nThe number N of the tags is $fence.\n$material\nName {{}} topics.\n"


@pytest.fixture(name="own")
def own_folder(tmp_path: Path) -> str:
    (tmp_path / "topics.txt").write_text(OWN.replace("{}", "$min_topics to $max_topics"), "utf-8")
    return str(tmp_path)


def test_the_list_says_whose_each_prompt_is_and_the_version_that_answers_have(
    own: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["prompts", "list", "--dir", own, "--json"]) == 0
    listed = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert listed.keys() == built_in().keys()
    assert {name for name, row in listed.items() if row["origin"] == own} == {"topics"}
    assert listed["topics"]["version"] == "7"
    assert run(["prompts", "list"]) == 0
    assert f"Judge: {built_in().identity('judge')}" in capsys.readouterr().out


def test_a_prompt_is_shown_as_it_is_and_filled(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prompts", "show", "topics"]) == 0
    assert capsys.readouterr().out == built_in()["topics"].text
    assert run(["prompts", "show", "topics", "--example"]) == 0
    assert "Give 5 to 10 key topics" in capsys.readouterr().out


def test_a_folder_is_compared_and_checked(own: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prompts", "diff", "--dir", own]) == 0
    changed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("+") and "+++" not in line]
    assert changed == ["+Name $min_topics to $max_topics topics."]
    assert run(["prompts", "check", "--dir", own]) == 0
    assert "1 prompts of its own: topics" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["show", "poem"], ["check", "--dir", "/nowhere"], ["diff", "--dir", "/nowhere"]])
def test_what_is_not_there_is_one_line_and_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["prompts", *arguments]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_prompt_without_its_variables_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "topics.txt").write_text(OWN, "utf-8")
    assert run(["prompts", "check", "--dir", str(tmp_path)]) == 2
    assert "lines: expected the variables $fence, $material, $max_topics, $min_topics" in capsys.readouterr().err


def test_labels_of_an_embedder_are_refused_before_it_is_looked_for() -> None:
    assert run(["models", "export", "no/such", "--task", "embedding", "--labels", "a,b"]) == 2
