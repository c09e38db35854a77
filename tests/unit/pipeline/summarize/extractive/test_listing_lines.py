import pytest

from pipeline.summarize.extractive.lines import is_listing, is_prompt, is_sentence_end


@pytest.mark.parametrize(
    "line",
    ["$ ls -l", "# exportfs -ra", "% make", "root@host:~# reboot", ">>> import os", r"C:\Users\me> dir"],
)
def test_a_prompt_is_recognized(line: str) -> None:
    assert is_prompt(line)
    assert is_listing([line])


@pytest.mark.parametrize("line", ["#1 of the list", "# Title", "The price is $5.", "50 % of the water"])
def test_other_lines_are_no_prompt(line: str) -> None:
    assert not is_prompt(line)


@pytest.mark.parametrize(
    "lines",
    [
        ["workgroup = FALCOTNET"],
        ["Package: perl", "Pin: version 5.28*", "Pin-Priority: 1001"],
        ["total 0", "lrwxrwxrwx 1 root root 7 Mar  1 00:19 lv_base"],
        ["[global]"],
        ["LATIN6\tISO 8859-10\tNordic\tYes"],
        ["interface {", "    address 10.0.0.1;", "}"],
        ["./configure", "make", "su", "make install", "adduser postgres"],
        ["FATAL: could not create semaphores: No space left on device", "DETAIL: Failed system call"],
    ],
)
def test_lines_that_must_stay_lines(lines: list[str]) -> None:
    assert is_listing(lines)


@pytest.mark.parametrize(
    "lines",
    [
        ["The pump runs at 5 bar."],
        ["Set the option --verbose to see what the daemon does with /etc/pump.conf"],
        [
            "The server is found at https://example.org and it answers on the port 80",
            "of all the machines in the plant.",
        ],
        [
            "Pumps move water from one basin to another and are found in all plants",
            "that use cooling water, because nothing else is as cheap or as simple to",
            "keep in good order over many years.",
        ],
        [
            "Die Pumpe fördert Wasser aus einem Becken zum anderen und wird täglich",
            "gereinigt, weil Schmutz ihre Dichtungen angreift und Rohre verstopft; danach",
            "läuft alles weiter.",
        ],
    ],
)
def test_wrapped_prose_is_no_listing(lines: list[str]) -> None:
    assert not is_listing(lines)


def test_the_end_of_a_sentence_may_have_closing_marks() -> None:
    assert is_sentence_end("He said “stop.”)")
    assert is_sentence_end("完了しました。")
    assert not is_sentence_end("The following steps:")
