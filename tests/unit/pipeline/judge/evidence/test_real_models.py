"""The table with the installed models: faithful summaries against hallucinated ones."""

from collections.abc import AsyncIterator
from pathlib import Path
from statistics import mean

import pytest

from inference.call import Call, Priority
from inference.config import InferenceConfig, RuntimeConfig
from inference.engine import Engine
from pipeline.judge.evidence.build import build_evidence
from pipeline.judge.evidence.plan import EvidenceRequest
from pipeline.judge.evidence.table import EvidenceTable, MismatchKind
from pipeline.support.claim_support import ClaimLabel
from server.rpc.models import CallScope, EngineModels
from tests.unit.pipeline.judge.evidence.tables_by_fakes import ARTICLE

pytestmark = pytest.mark.models

MODELS = Path(__file__).resolve().parents[5] / "models"

DIG = """Archaeologists in the hills above Lake Morel have uncovered a Bronze Age village with at least 14 houses. The
team from the University of Tarn began digging in 2019, after a farmer found a bronze axe while planting vines. The
houses stood on low stone walls and burned down around 1200 BC, and the fire preserved grain, rope and even a loaf of
bread. Dr. Imogen Vass, who leads the dig, said that the village had probably been attacked, because 30 arrowheads lay
among the ruins. Other scholars doubt this and point to a drought in the same years. The finds will be shown in the
regional museum from May. The farmer, Paul Reyes, received 20,000 euros and kept his vines."""
TRIAL = """A new drug for migraine did not reduce the number of attacks in a trial with 1,240 patients, its maker said.
Patients who took the pill daily had 4.1 attacks a month, against 4.3 in the group that took a placebo, a difference
that may be due to chance. The company, Norvane, will stop developing the drug and cut 150 jobs. Its shares fell by 18
per cent in Zurich. Analysts had expected sales of two billion dollars a year. Side effects were mild. Norvane still has
two other drugs in late trials, and said that its dividend would not change."""
FAITHFUL = {
    ARTICLE: "Brookfield will close its old steel bridge for two years because engineers found cracks in its supports. "
    "The repairs are to cost $4.2 million, and the state pays half of that.",
    DIG: "Archaeologists have found a Bronze Age village above Lake Morel. Its houses burned down around 1200 BC. Vass "
    "believes that the village was attacked, but other scholars point to a drought.",
    TRIAL: "Norvane's migraine drug failed to reduce attacks in a trial of 1,240 patients. The company will stop its "
    "development and cut 150 jobs, and its shares fell 18%.",
}
HALLUCINATED = {
    ARTICLE: "Brookfield will tear down its old steel bridge after a ship hit it. The repairs are to cost $42 million, "
    "all of which the state pays. The mayor has resigned.",
    DIG: "Archaeologists have found a Roman temple above Lake Morel. Its houses were destroyed by a flood in 1800 BC. "
    "Vass believes that the village was abandoned peacefully.",
    TRIAL: "Norvane's migraine drug halved the number of attacks in a trial of 2,140 patients. The company will hire "
    "150 people, and its shares rose 18%.",
}


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with Engine(InferenceConfig(models_dir=MODELS, runtime=RuntimeConfig(warmup_s=0.2))) as engine:
        yield engine


async def build(engine: Engine, source: str, summary: str) -> EvidenceTable:
    terms = CallScope(Call(None, Priority.INTERACTIVE), max_queue_wait_s=60)
    return await build_evidence(EvidenceRequest(source, summary), EngineModels(engine).bound(terms))


def support(table: EvidenceTable) -> float:
    """Returns the mean probability of the claims."""
    return mean(claim.probability for claim in table.claims)


async def test_faithful_summaries_are_supported_and_hallucinated_ones_are_not(engine: Engine) -> None:
    faithful = [await build(engine, *pair) for pair in FAITHFUL.items()]
    hallucinated = [await build(engine, *pair) for pair in HALLUCINATED.items()]
    for good, bad in zip(faithful, hallucinated, strict=True):
        assert support(good) > 0.7
        assert support(bad) < 0.3
        assert ClaimLabel.UNSUPPORTED in {claim.label for claim in bad.claims}
        assert good.tone.drift < 0.4
    assert mean(table.tone.drift for table in hallucinated) > mean(table.tone.drift for table in faithful)


async def test_evidence_is_the_place_that_says_it(engine: Engine) -> None:
    table = await build(engine, TRIAL, FAITHFUL[TRIAL])
    first = table.claims[0]
    assert first.support is not None
    assert "1,240 patients" in first.support.quote
    assert first.mismatches == ()


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("two years", "six years", MismatchKind.NUMBER),
        ("$4.2 million", "$2.4 million", MismatchKind.NUMBER),
        ("Brookfield", "Springfield", MismatchKind.NAME),
    ],
)
async def test_a_swapped_value_is_found(engine: Engine, old: str, new: str, kind: MismatchKind) -> None:
    before, after = FAITHFUL[ARTICLE], FAITHFUL[ARTICLE].replace(old, new, 1)
    (found,) = [one for claim in (await build(engine, ARTICLE, after)).claims for one in claim.mismatches]
    assert found.kind is kind
    assert found.claim.quote in new
    assert not any(claim.mismatches for claim in (await build(engine, ARTICLE, before)).claims)
