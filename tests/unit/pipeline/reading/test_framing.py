import pytest

from pipeline.reading.characters import normalize
from pipeline.reading.framing import find_meta_commentary, framing_length, speaks_of_text
from pipeline.reading.sentences import split_sentences

META = {
    "This summary covers the new fees.": "This summary covers",
    "This brief executive summary covers fees.": "This brief executive summary covers",
    "The following summary outlines fees.": "The following summary outlines",
    "The summary also notes that fees rose.": "The summary also notes",
    "The document states that fees rose.": "The document states",
    "the DOCUMENT States that fees rose.": "the DOCUMENT States",
    "The article then explains why.": "The article then explains",
    "The author argues that fees are too high.": "The author argues",
    "The authors argue that fees are too high.": "The authors argue",
    "The source text mentions fees.": "The source text mentions",
    "This report describes the fees.": "This report describes",
    "The document is about fees.": "The document is about",
    "In this article, fees are discussed.": "In this article,",
    "According to the document, fees rose.": "According to the document,",
    "As noted in the text, fees rose.": "As noted in the text,",
    "Here is a concise summary of the report: fees rose.": "Here is a concise summary",
    "Here's the summary you asked for.": "Here's the summary",
    "Here’s a summary.": "Here’s a summary",
    "Below is a short overview of fees.": "Below is a short overview",
    "The purpose of this document is to raise fees.": "The purpose of this document is",
    "I summarized the fees.": "I summarized",
    "I'll summarize the fees.": "I'll summarize",
    "As an AI language model, I cannot read it.": "As an AI",
    "**This summary covers** fees.": "**This summary covers",
    "**Summary:** This document describes fees.": "**Summary:** This document describes",
    "- The document states that fees rose.": "The document states",
    "## Overview\n\nThis document\ndescribes fees.": "This document\ndescribes",
    "Fees rose. The text states so.": "The text states",
    "Fees rose.\n\nThe passage highlights costs.": "The passage highlights",
}
SUBJECT = [
    "The document was signed in 1945.",
    "The documents state law requires were filed.",
    "The summary judgment covers all claims.",
    "The report found that fees rose.",
    "The report describes the bridge as unsafe.",
    "The bill requires a report that describes fees.",
    "The text messages showed that fees rose.",
    "The author of the bill resigned.",
    "The article of incorporation was amended.",
    "Article I states that Congress makes laws.",
    "In this document signed in 1945, fees were set.",
    "Critics said that this summary covers too little.",
    "Officials wrote the document, which states that fees rose.",
    "A summary of costs was published.",
    "In summary, fees rose.",
    "Overview: fees rose.",
    "Here is where fees rose.",
    "This document, signed in 1945, is still in force.",
    "As an airline, it pays no fees.",
]
QUOTED = [
    "“This summary covers fees,” the memo began.",
    '"This document describes fees," the memo began.',
    'The memo began: "Fees rose. The document states so. All agreed."',
    "The memo began: “Fees rose. The document states so. All agreed.”",
    "Es hieß: „Fees rose. The document states so.“",
    "Il a dit: « Fees rose. The document states so. »",
    "> This document describes fees.",
]


def found(text: str) -> str | None:
    source = normalize("generated.text", text)
    evidence = find_meta_commentary(source, split_sentences(source.text, 700))
    return evidence.quote if evidence else None


@pytest.mark.parametrize(("text", "expected"), META.items())
def test_a_sentence_about_the_summary_or_the_document_is_found(text: str, expected: str) -> None:
    assert found(text) == expected


@pytest.mark.parametrize("text", [*SUBJECT, *QUOTED])
def test_a_sentence_about_the_subject_and_quoted_text_are_not_found(text: str) -> None:
    assert found(text) is None


def test_an_unclosed_quote_exempts_nothing() -> None:
    assert found('He wrote "fees rose.\n\nThe document states so.') == "The document states"


def test_the_evidence_points_into_the_text_as_sent() -> None:
    text = "Ｆｅｅｓ rose. The ﬁrst summary covers costs."
    source = normalize("generated.text", text)
    evidence = find_meta_commentary(source, split_sentences(source.text, 700))
    assert evidence is not None
    assert text[evidence.start : evidence.end] == evidence.quote == "The ﬁrst summary covers"


LEAD_INS = [
    "Here is a concise summary of the passage:",
    "Sure! Here's a summary of the article:",
    "Sure, here is the summary you asked for:",
    "Here's an objective overview of the text based on the provided structured data:",
    "Based on the given passages, here is the answer:",
    "Here is a summary of the passage in under 50 words:",
    "Here's a 150-word summary of the text.",
    "Here are the key points from the passage:",
    "The following is a brief overview of the text.",
    "I have summarized the article below:",
    "Based on the given passages,",
    "**Summary:**",
    "In summary:",
    "Certainly!",
    "This summary captures the main points of the passage.",
    "(57 words)",
    "Let me know if you have any other questions.",
    "Feel free to ask if you need more details!",
    "Is there anything else you would like to know?",
    "If you need more details, please let me know.",
    "Would you like me to summarize it further?",
    "I hope this helps!",
    "Here are the main points from the article, organized by theme:",
    "Sure, here you go:",
    "Absolutely! Here's a concise, reader-friendly summary:",
    "Would you like me to turn this into a tweet?",
    "Feel free to ask if you have any follow-up questions.",
    "Great, here's what the article says:",
    "Would you like a more detailed version, or a version aimed at children?",
    "Let me know if you want this in bullet points or translated into French.",
    "Here's a summary that captures the key points:",
    "Here's a quick summary of the main points:",
    "Here's a clear and concise summary of the article you shared:",
    "Here is a structured overview of the text, grouped by topic:",
    "Here is a summary that covers the most important details:",
    "Sure! Here's a kid-friendly version of the summary:",
    "Got it! Here's a shorter version:",
    "Happy to help! Here's a summary of the text you provided:",
    "Of course. Here is what the text says:",
    "Here it is:",
    "Here are the key takeaways at a glance:",
    "Here's a simplified version for children:",
    "Below are the key events in chronological order:",
    "Let me know if you'd like me to expand on any of these points.",
    "Let me know if you need it in a different format!",
    "Let me know if you'd like a 100-word version.",
    "If you'd like, I can turn this into slides or a LinkedIn post.",
    "If you want, I can also translate this into Spanish or German.",
    "I can also provide a shorter version if you'd like.",
    "I can also turn this into a one-page brief for executives.",
    "Would you like me to simplify it for a general audience?",
    "Would you like this as an email or as a thread?",
    "Do you want a version for experts?",
    "Want me to make it shorter?",
    "Just let me know if you'd like any changes.",
    "Please let me know if you have any questions or need further clarification.",
    "Feel free to reach out if you need anything else.",
    "I hope this gives you a clear overview of the article.",
    "Hope this helps!",
    "Is there a specific aspect you'd like me to expand on?",
    "Happy to adjust the tone or length if needed.",
]
OPENED = {
    "Based on the passages, twins happen when two eggs are fertilized.": "twins happen when two eggs are fertilized.",
    "According to the provided article, fees rose.": "fees rose.",
    "In summary, fees rose.": "fees rose.",
    "Overall, fees rose in May.": "fees rose in May.",
    "Therefore, based on these passages, fees rose.": "fees rose.",
    "Note: Based on the provided passages, fees rose.": "fees rose.",
    "**Summary:** Fees rose in May.": "Fees rose in May.",
    "Here is a summary of the report: fees rose by 5%.": "fees rose by 5%.",
}
STATEMENTS = [
    "Here is where fees rose.",
    "Here is a summary of how Ann Holt stole 5 million:",
    "Here is a summary of Ann Holt's theft of 5 million dollars:",
    "This summary covers the new fees.",
    "According to the customers, fees rose.",
    "The passage does not say that fees rose.",
    "The author argues that fees rose.",
    "Let me know if fees rose.",
    "Here's what the article says about the arrest:",
    "Here's a summary that covers the arrest of the mayor:",
    "Here are the main points about the three children:",
    "I can also turn this into a post about the bribes.",
    "Would you like this translated into French by Ann Holt?",
    "Is there a thief you'd like me to name?",
    "Hope this helps the drowned children.",
    "Let me know if you think the gate kills divers.",
    "Feel free to visit the children burned by the pumps.",
    "Here is a summary of the arrest for fraud:",
    "Here's an objective overview of Goodland Kitchen based on the provided structured data:",
    "Let me know if you saw Ann Holt steal it.",
    "If you need more water, call the council.",
    "I hope the mayor resigns.",
    "Of course the mayor resigned.",
    "Summary judgment was granted.",
]


@pytest.mark.parametrize("sentence", LEAD_INS)
def test_a_sentence_that_states_nothing_is_framing(sentence: str) -> None:
    assert framing_length(sentence) == len(sentence)


@pytest.mark.parametrize(("sentence", "statement"), OPENED.items())
def test_framing_ends_where_the_statement_begins(sentence: str, statement: str) -> None:
    assert sentence[framing_length(sentence) :] == statement


@pytest.mark.parametrize("sentence", [*STATEMENTS, *SUBJECT[:14]])
def test_a_statement_is_no_framing(sentence: str) -> None:
    assert framing_length(sentence) == 0


def test_an_announcement_may_name_its_subject_in_words_of_the_source() -> None:
    sentence = "Here's an objective overview of Goodland Kitchen's menu based on the provided structured data:"
    assert speaks_of_text(sentence, {"goodland", "kitchen", "menu"})
    assert not speaks_of_text("Liars of Goodland Kitchen:", {"goodland", "kitchen", "menu"})


@pytest.mark.parametrize(
    "sentence", ["The visitors took all three points.", "Ann's highlights shocked the council.", "In summary, Ann won."]
)
def test_a_statement_of_known_words_is_no_announcement(sentence: str) -> None:
    """A source has all words of what is true of it, and of much that is false."""
    assert not speaks_of_text(sentence, set(sentence.casefold().replace("'s", "").strip(".").replace(",", "").split()))
