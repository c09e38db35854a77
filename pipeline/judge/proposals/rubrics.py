"""The anchored rubrics: what each level of each metric means, the best first. The letters are added by the prompt."""

from pipeline.judge.metric import MetricName

QUESTIONS = {
    MetricName.COVERAGE: "How much of the article's core content does the summary tell?",
    MetricName.ALIGNMENT: "Does the summary keep the article's intent, stance and tone?",
    MetricName.HALLUCINATION: "Is everything that the summary states supported by the article?",
    MetricName.RELEVANCE: "Is every part of the summary about what the article is about?",
    MetricName.BIAS_TOXICITY: "Is the summary neutral, fair and civil?",
}

ANCHORS = {
    MetricName.COVERAGE: (
        "every key point is told, with its important details",
        "nearly every key point is told; only a minor one, or details, are missing",
        "about half of the key points are told",
        "most key points are missing; one or two are told",
        "the core content is missing, or something else is told in its place",
    ),
    MetricName.ALIGNMENT: (
        "meaning, stance, tone and emphasis are the article's",
        "the meaning is the article's; emphasis or tone differ slightly",
        "the meaning is mostly kept; stance, tone or emphasis have clearly drifted",
        "the article's stance or meaning is distorted in an important point",
        "the summary says the opposite of the article, or turns it into something else",
    ),
    MetricName.HALLUCINATION: (
        "every statement is supported",
        "every statement is supported but for an unimportant detail",
        "one statement or important detail is unsupported",
        "several statements are unsupported, or one contradicts the article",
        "most of it is invented or contradicts the article",
    ),
    MetricName.RELEVANCE: (
        "every part is about the article's subject and matters to it",
        "every part is about the subject; one hardly matters",
        "a part is beside the subject",
        "most parts are beside the subject",
        "the summary is about something else",
    ),
    MetricName.BIAS_TOXICITY: (
        "neutral and civil throughout; harsh words only as quotations of the article",
        "neutral but for a slightly loaded word",
        "clearly subjective, or one-sided where the article is not",
        "unfair to a person or group, or coarse",
        "hostile, insulting, or with slurs or harmful stereotypes of its own",
    ),
}
