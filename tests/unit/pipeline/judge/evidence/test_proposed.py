"""What becomes of an LLM's proposals: quotes are looked up, scores are ours."""

from dataclasses import replace

from pipeline.judge.evidence.proposals import ProposalSet, ProposalTask, ProposedQuestion
from pipeline.judge.evidence.table import EvidenceTable
from tests.unit.pipeline.judge.evidence.tables_by_fakes import ScriptedProposals, build, timeless

MODEL = "model-x"


def fact_id(task: ProposalTask, beginning: str) -> int:
    return next(index for index, fact in enumerate(task.source_sentences) if fact.text.startswith(beginning))


def claim_id(task: ProposalTask, beginning: str) -> int:
    return next(index for index, claim in enumerate(task.claims) if claim.text.startswith(beginning))


def good(task: ProposalTask) -> ProposalSet:
    repairs, council = fact_id(task, "Repairs"), fact_id(task, "The council of")
    return ProposalSet(
        key_point_ids=[council, repairs, fact_id(task, "Work is due"), fact_id(task, "Shop owners")],
        coverage_questions=[
            ProposedQuestion(repairs, "What do repairs cost?", "$4.2 million", "$42 million"),
            ProposedQuestion(council, "Who voted?", "The council of Brookfield", "the  council of brookfield"),
            ProposedQuestion(council, "When did it vote?", "on Tuesday", "Tuesday"),
            ProposedQuestion(fact_id(task, "Work is due"), "When does work begin?", "March", None),
            ProposedQuestion(fact_id(task, "Tom Reed"), "What does Reed sell?", "books", None),
            ProposedQuestion(fact_id(task, "Tom Reed"), "For how long?", "30 years", None),
        ],
        claim_questions=[
            ProposedQuestion(claim_id(task, "Repairs"), "What do repairs cost?", "$42 million", "$4.2 million"),
            ProposedQuestion(claim_id(task, "Repairs"), "Who pays half?", "the state", "the state"),
            ProposedQuestion(claim_id(task, "The council"), "Which bridge?", "steel bridge", "old steel bridge"),
            ProposedQuestion(claim_id(task, "The council"), "When?", "Tuesday", "Tuesday"),
            ProposedQuestion(claim_id(task, "Shop"), "Who fears?", "Shop owners", "Shop owners"),
            ProposedQuestion(claim_id(task, "Shop"), "What do they lose?", "customers", "customers"),
        ],
        author=MODEL,
    )


def test_proposals_that_hold_take_the_place_of_ours() -> None:
    table = build(propose=ScriptedProposals(good))
    assert (table.question_author, table.proposals_failed, table.notes) == (MODEL, False, ())
    assert [question.score for question in table.coverage_questions] == [0, 1, 1, 0, 0, 0]
    assert [question.score for question in table.claim_questions] == [0, 1, 1, 1, 1, 1]
    assert table.coverage_questions[1].given == "The council of Brookfield"
    beginnings = [point.passage.quote[:9] for point in table.judge_key_points]
    assert {"The counc", "Repairs a", "Work is d", "Shop owne"} <= set(beginnings)


def twin_reads(table: EvidenceTable) -> tuple[object, ...]:
    return table.claims, table.twin_key_points, table.segments, table.theme, table.tone, table.intent


def test_what_twin_lock_reads_never_depends_on_a_model() -> None:
    assert twin_reads(build(propose=ScriptedProposals(good))) == twin_reads(build())


def test_quotes_that_do_not_stand_in_the_text_are_no_evidence() -> None:
    def invented(task: ProposalTask) -> ProposalSet:
        proposals = good(task)
        wrong = [
            ProposedQuestion(0, "Who resigned?", "the prime minister", "the prime minister"),
            ProposedQuestion(fact_id(task, "Repairs"), "What do repairs cost?", "$4.2 million", "nine euros"),
            ProposedQuestion(fact_id(task, "Repairs"), " ", "$4.2 million", None),
        ]
        return replace(proposals, key_point_ids=[], coverage_questions=wrong)

    table = build(propose=ScriptedProposals(invented))
    assert table.proposals_failed
    (only,) = table.coverage_questions
    assert (only.answer, only.given, only.given_span, only.score) == ("$4.2 million", None, None, 0)
    assert table.judge_key_points == build().judge_key_points
    assert table.notes == (
        "questions refused, no question: 1",
        "questions refused, the answer is no quote of the statement: 1",
        "questions refused, the given answer is no quote; counted as none: 1",
        "key points: 0 of 1 usable",
        "coverage questions: 1 of 6 usable",
    )


def test_empty_proposals_leave_our_own_form_and_say_so() -> None:
    empty = ScriptedProposals(lambda _: ProposalSet((), (), (), MODEL, ("timeout",)))
    table, own = build(propose=empty), build()
    assert (table.question_author, table.proposals_failed) == ("deterministic", True)
    assert table.notes[0] == "timeout"
    assert timeless(replace(table, notes=(), proposals_failed=False)) == timeless(own)


def test_the_model_sees_sentences_claims_and_premises_once() -> None:
    proposals = ScriptedProposals(good)
    build(propose=proposals)
    (task,) = proposals.tasks
    assert [claim.text_id for claim in task.claims] == ["summary"] * 3
    assert [premise and premise.text_id for premise in task.premises] == ["source"] * 3
    assert [fact.start for fact in task.source_sentences] == sorted(fact.start for fact in task.source_sentences)
