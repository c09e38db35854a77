"""The graph of a summary: plan -> map waves -> reduce levels -> reflect -> again or topics."""

from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph

from pipeline.summarize.graph.map_nodes import extract, plan
from pipeline.summarize.graph.reduce_nodes import merge, reduce
from pipeline.summarize.graph.reflect_nodes import reflect, topics
from pipeline.summarize.graph.run import BatchTask, GroupTask, Run, SummaryGraph, SummaryState


def build_graph(checkpointer: BaseCheckpointSaver[Any] | None) -> SummaryGraph:
    """Compiles the graph. One graph serves all summaries; a summary's id is its thread.

    extract and merge run once for each task that another node sends; the step ends when all of them have.
    """
    builder = StateGraph(SummaryState, context_schema=Run)
    builder.add_node("plan", plan, destinations=("extract",))
    builder.add_node("extract", extract, input_schema=BatchTask, destinations=("extract", "reduce"))
    builder.add_node("reduce", reduce, destinations=("merge", "reflect"))
    builder.add_node("merge", merge, input_schema=GroupTask)
    builder.add_node("reflect", reflect, destinations=("plan", "topics"))
    builder.add_node("topics", topics)
    builder.add_edge(START, "plan")
    builder.add_edge("merge", "reduce")
    builder.add_edge("topics", END)
    return builder.compile(checkpointer=checkpointer, name="summarize")
