"""Each alert fires on the series that it is for, and is silent beside series of a healthy server: promtool says so."""

import os
import subprocess
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import yaml

from tests.integration.support.programs import ROOT

pytestmark = pytest.mark.deploy

ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yaml"
CALLS = 'precis_calls_total{code="%s", rpc="Judge"}'
QUEUE = 'precis_batch_queue_seconds_bucket{model="nli", le="%s"}'
CALLER = 'precis_caller_queue_seconds_bucket{caller="acme", le="%s"}'
ENDED = 'precis_summaries_ended_total{status="%s"}'
SCORE = 'precis_judged_score_%s{framework="ultra", metric="coverage"}'
SHARE = "precis_summary_retained_share_%s"
MINUTE, QUARTER = "1m", "15m"  # between two values of a series: of an hour, and of a week
WEEK, CHANGE = 7 * 24 * 4, 8 * 4  # quarters of an hour
Series = dict[str, str]
FIRING: dict[str, Series] = {  # by alert, an hour of what it is for
    "PrecisDown": {'up{job="precis"}': "1 0x60"},
    "PrecisNotReady": {"precis_ready": "1 0x60"},
    "PrecisNobodyServes": {'precis_ready{instance="a"}': "0x60", 'precis_ready{instance="b"}': "0x60"},
    "PrecisInternalErrors": {CALLS % "INTERNAL": "0+3x60"},
    "PrecisRefusesCalls": {CALLS % "OK": "0+90x60", CALLS % "RESOURCE_EXHAUSTED": "0+10x60"},
    "PrecisQueueIsSlow": {QUEUE % "5.0": "0+80x60", QUEUE % "10.0": "0+100x60", QUEUE % "+Inf": "0+100x60"},
    "PrecisDeadlinesPass": {CALLS % "OK": "0+90x60", CALLS % "DEADLINE_EXCEEDED": "0+5x60"},
    "PrecisWorkersRestart": {"precis_worker_restarts_total": "0+1x60"},
    "PrecisSummariesFail": {ENDED % "done": "0+7x60", ENDED % "failed": "0+3x60"},
    "PrecisCallerWaits": {CALLER % "5.0": "0+80x60", CALLER % "10.0": "0+100x60", CALLER % "+Inf": "0+100x60"},
    "PrecisMemoryIsHigh": {'process_resident_memory_bytes{job="precis"}': "6e9x60"},
}
CHANGED: dict[str, Series] = {  # by alert, a week, and eight hours that are not like it
    "PrecisSummariesKeepLess": {
        SHARE % "sum": f"0+3x{WEEK} {3 * WEEK}+0.6x{CHANGE}",
        SHARE % "count": f"0+20x{WEEK + CHANGE}",
    },
    "PrecisScoresDrift": {
        SCORE % "sum": f"0+80x{WEEK} {80 * WEEK}+50x{CHANGE}",
        SCORE % "count": f"0+10x{WEEK + CHANGE}",
    },
}
HEALTHY: Series = {
    'up{job="precis"}': "1x60",
    "precis_ready": "1x60",
    CALLS % "OK": "0+100x60",
    CALLS % "INTERNAL": "0x60",
    CALLS % "RESOURCE_EXHAUSTED": "0+1x60",
    CALLS % "DEADLINE_EXCEEDED": "0+1x60",
    **{QUEUE % edge: "0+100x60" for edge in ("5.0", "10.0", "+Inf")},
    **{CALLER % edge: "0+100x60" for edge in ("5.0", "10.0", "+Inf")},
    "precis_worker_restarts_total": "2x60",
    ENDED % "done": "0+9x60",
    ENDED % "failed": "0+1x60",
    'process_resident_memory_bytes{job="precis"}': "1e9x60",
}
UNCHANGED: Series = {
    SHARE % "sum": f"0+3x{WEEK + CHANGE}",
    SHARE % "count": f"0+20x{WEEK + CHANGE}",
    SCORE % "sum": f"0+80x{WEEK + CHANGE}",
    SCORE % "count": f"0+10x{WEEK + CHANGE}",
}


def case(series: Series, firing: dict[str, int], interval: str) -> dict[str, Any]:
    """Makes a case of promtool: how many instances of each alert fire near the end of the series."""
    return {
        "interval": interval,
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {
                "expr": f'count(ALERTS{{alertname="{name}", alertstate="firing"}})',
                "eval_time": "55m" if interval == MINUTE else f"{15 * (WEEK + CHANGE - 2)}m",
                "exp_samples": [{"labels": "{}", "value": count}] if count else [],
            }
            for name, count in firing.items()
        ],
    }


def promtool(folder: Path, *cases: dict[str, Any]) -> str:
    """Runs cases of one interval against the alerts; PROMTOOL names the program where it is not on the path.

    Returns what failed; empty when nothing did.
    """
    program = os.environ.get("PROMTOOL") or which("promtool")
    assert program, "promtool is missing: apt install prometheus, or name it with PROMTOOL"
    file, interval = folder / "cases.yaml", cases[0]["interval"]
    file.write_text(yaml.safe_dump({"rule_files": [str(ALERTS)], "evaluation_interval": interval, "tests": [*cases]}))
    ended = subprocess.run([program, "test", "rules", file], capture_output=True, text=True, check=False)
    return ended.stdout + ended.stderr if ended.returncode else ""


def test_every_alert_fires_on_what_it_is_for(tmp_path: Path) -> None:
    [group] = yaml.safe_load(ALERTS.read_text())["groups"]
    assert {*FIRING, *CHANGED} == {rule["alert"] for rule in group["rules"]}
    assert promtool(tmp_path, *(case(series, {name: 1}, MINUTE) for name, series in FIRING.items())) == ""
    assert promtool(tmp_path, *(case(series, {name: 1}, QUARTER) for name, series in CHANGED.items())) == ""


def test_no_alert_fires_beside_a_healthy_server(tmp_path: Path) -> None:
    silent = dict.fromkeys((*FIRING, *CHANGED), 0)
    assert promtool(tmp_path, case(HEALTHY, silent, MINUTE)) == ""
    assert promtool(tmp_path, case(UNCHANGED, dict.fromkeys(CHANGED, 0), QUARTER)) == ""


def test_a_case_that_expects_too_much_fails(tmp_path: Path) -> None:
    assert promtool(tmp_path, case(HEALTHY, {"PrecisDown": 1}, MINUTE)) != ""
