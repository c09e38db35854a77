"""Meta-commentary: words about the summary or the document in place of their subject. English only.

`find_meta_commentary` asks whether a text has any. Patterns are anchored at the start of a sentence and ask for a
subject and a verb together: "The document states that fees rose" is meta-commentary, "The document was signed in 1945"
and "The summary judgment covers fees" are not. "The report found" is not either: reports are often what a text is
about; "This report describes" is.

`lead_in_length` asks how much of a sentence can be left out because it states nothing: all of "Here is a summary of the
passage:" and of "Let me know if you need more.", the beginning of "Based on the passages, twins happen when ...". What
is left out is never checked, so that no statement may hide in it: announcements and offers hold no clauses, no numbers
but those of words and, where nothing is announced, no names. All of their words are in a closed list, save for those
that a caller knows to name the subject. In doubt a sentence states something.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeGuard

from pipeline.reading.characters import NormalizedText
from pipeline.reading.passage import TextSpan
from pipeline.reading.sentences import Sentence

_SUMMARY = r"(?:summary|overview|synopsis|abstract|recap|digest)"
_DOCUMENT = (
    r"(?:(?:source|original) text|source document|document|text|article|passage|excerpt|transcript|authors?|writer)"
)
_OWN_DOCUMENT = r"(?:report|paper|essay|study|memo(?:randum)?|chapter|blog post|guide)"
_ADVERB = r"(?: (?:[a-z]{2,20}ly|also|then|will|aims to|seeks to|attempts to|goes on to))?"
_VERBS = (
    *("addresses", "argues?", "begins? (?:by|with)", "captures?", "concludes?", "contains?", "covers?", "deals? with"),
    *("describes?", "details?", "discuss(?:es)?", "emphasi[sz]es?", "examines?", "explains?", "explores?"),
    *("focus(?:es)? on", "gives?", "highlights?", "includes?", "introduces?", "is about", "mentions?", "notes?"),
    *("offers?", "outlines?", "presents?", "provides?", "reports?", "says?", "states?", "stress(?:es)?"),
    *("summari[sz]es?", "talks? about", "touch(?:es)? on", "walks? through"),
)
_VERB = f"(?:{'|'.join(_VERBS)})"
_OPENINGS = (
    # This brief summary covers ...
    rf"(?:this|the(?: (?:following|above|present|below))?) (?:[\w-]{{1,20}} ){{0,2}}?{_SUMMARY}{_ADVERB} {_VERB}\b",
    # The document states ...
    rf"(?:this|the|said) {_DOCUMENT}{_ADVERB} {_VERB}\b",
    rf"this {_OWN_DOCUMENT}{_ADVERB} {_VERB}\b",
    # In this article, ...
    rf"(?:in|according to|as (?:discussed|mentioned|noted|stated) in) (?:this|the) (?:{_SUMMARY}|{_DOCUMENT})\s*,",
    rf"the (?:aim|goal|purpose) of this (?:{_SUMMARY}|{_DOCUMENT}|{_OWN_DOCUMENT}) is\b",
    # Here is a concise summary ...
    rf"(?:here(?:['’]s| is| are)|(?:below|the following|what follows) is) (?:[\w-]{{1,20}} ){{0,4}}?{_SUMMARY}\b",
    r"(?:let me|i(?:['’](?:ll|ve)| have| will)?) summari[sz]ed?\b",
    r"as an? (?:ai|(?:large )?language model)\b",
)
# Emphasis and a label ("**Summary:** ") may stand in front.
_LEAD = r"[*_~(\s]*+(?:(?:note|summary|overview|abstract|tl;?dr)\s*[:-][*_\s]*)?+"
_META = re.compile(f"{_LEAD}(?:{'|'.join(_OPENINGS)})".replace(" ", r"\s+"), re.IGNORECASE)
_LONGEST_MATCH = 200
# Quotes close within their paragraph, or they are not counted as quotes.
_QUOTED = re.compile(
    r'"[^"\n]*+"|“[^“”]*+”|„[^„“”]*+[“”]|«[^«»]*+»|「[^「」]*+」|『[^『』]*+』|^[ \t]*>[^\n]*+$', re.MULTILINE
)


def find_meta_commentary(source: NormalizedText, sentences: Sequence[Sentence]) -> TextSpan | None:
    """Returns the opening words of the first such sentence. Quoted text, and block quotes, are exempt."""
    quotes = [match.span() for match in _QUOTED.finditer(source.text)]
    quote_starts = [start for start, _ in quotes]
    for sentence in sentences:
        match = _META.match(source.text, sentence.start, min(sentence.end, sentence.start + _LONGEST_MATCH))
        if match is None:
            continue
        quote = bisect_right(quote_starts, sentence.start) - 1
        if quote < 0 or sentence.start >= quotes[quote][1]:
            return source.passage(*match.span())
    return None


_LONGEST_LEAD_IN = 240
_FEWEST_LETTERS_LEFT = 8
_THE = r"(?:(?:the|this|these|those|your) )?"
_GIVEN = r"(?:(?:given|provided|above|following|supplied|source|original|structured|same|json),? )"
_PASSAGES = (
    rf"{_THE}{_GIVEN}{{0,3}}(?:passages?|text|article|excerpts?)"
    r"(?: \d{1,2}(?:(?:, | and |, and )\d{1,2}){0,9})?"
)
_MATERIAL = (
    rf"(?:this |{_THE}{_GIVEN}{{1,3}})"
    r"(?:documents?|transcripts?|information|data|context|content|sources?|reviews)"
)
_BASIS = (
    r"(?:based (?:(?:solely|only|purely) )?(?:up)?on|according to|as per|from|in"
    r"|as (?:stated|mentioned|noted|described|discussed|explained|outlined|reported) (?:in|by))"
    rf" (?:{_PASSAGES}|{_MATERIAL})(?: (?:provided|above|given|in json format)){{0,2}}"
)
_POLITE = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|definitely|okay|ok|no problem|gladly|great(?: question)?"
    r"|perfect|got it|understood|thank you|thanks|happy to help|you['’]re welcome)"
)
_IN_SHORT = (
    r"(?:in (?:summary|conclusion|short|brief|sum|essence|a nutshell)|to (?:summari[sz]e|sum up|conclude)|overall)"
)
_KEY = r"(?:key|main|most important|important|essential|relevant|central|major|core)"
_GIST = r"(?:points|takeaways|facts|findings|ideas|details|information|aspects|themes|content|events|message|topics)"
_LABEL = (
    r"(?:(?:(?:brief|concise|short|final|executive|overall) )?(?:summary|overview|answer|response|conclusion|synopsis)"
    rf"|(?:the )?{_KEY} {_GIST}|highlights|takeaways|tl;?dr|note)"
)
_TELLS = r"(?:states?|says?|mentions?|notes?|explains?|reports?|describes?|highlights?|points? out|concludes?)"
_BEGINNINGS = (
    # Based on the passages, ...
    rf"(?:(?:so|therefore|thus|{_POLITE})\s?[,!.:]? )?(?:{_BASIS}|{_IN_SHORT})\s?[,:]",
    # with a label in front
    rf"{_LABEL}[*_]{{0,2}}\s?:[*_]{{0,2}}",
    # The passage states that ...
    rf"the {_GIVEN}?(?:passages?|text|article|excerpt)(?: \d{{1,2}})?(?: (?:also|then|further|clearly))? {_TELLS} that",
)
_NO_CLAUSE = r"(?!(?:who|whom|whose|which|that|how|why|when|where|because|if|is|are|was|were|has|had|have|will|said)\b)"
_WORD = r"[^\s\d.:;!?]{1,40}"
_PRODUCT = (
    r"(?:summary|overview|synopsis|abstract|recap|digest|answers?|response|summari[sz]ation|version|rewrite|outline"
    rf"|{_KEY} {_GIST}|takeaways|highlights|list|bullet points|breakdown)"
)
_NUMBER = r"(?:\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten)"
_LENGTH = (
    rf"(?: in (?:(?:about|under|around|(?:less|fewer) than) )?{_NUMBER}"
    r" (?:words|sentences?|paragraphs?|points|bullet points))?"
)
_ANNOUNCEMENT = (
    rf"(?:{_POLITE}\s?[,!.]? )?(?:{_BASIS}\s?,? )?"
    r"(?:here(?:['’]s| is| are| you go)|(?:below|the following|what follows) (?:is|are)"
    r"|i(?:['’]ve| have)? (?:summari[sz]ed|written|created|prepared))"
    rf"(?P<kind>(?: {_NO_CLAUSE}(?:\d{{1,4}}-(?:word|sentence|point)|{_WORD})){{0,6}}?)(?: {_NUMBER})? {_PRODUCT}"
    rf"{_LENGTH}(?P<subject>(?: that (?:{_VERB}|keeps|preserves))?(?: {_NO_CLAUSE}{_WORD}){{0,16}}?){_LENGTH}"
)
_HERE = rf"(?:{_POLITE}\s?[,!.]? )?here(?: you go| (?:it is|they are)|(?:['’]s| is) what {_PASSAGES} {_VERB})"
_OFFER = (
    r"(?:(?:please|just) )?(?:(?:do )?let me know (?:if|whether|what|how)"
    r" (?:you(?:['’]d)?|there(?:['’]s)?|this|that|anything|i|it)"
    r"|feel free to|(?:do not|don['’]t) hesitate to|(?:would|do) you (?:like|want|need)"
    r"|is there (?:anything (?:else|more)|an?)"
    r"|(?:i(?:['’]d| would|['’]m| am)(?: be)?(?: more than)? )?(?:happy|glad) to|want me to|i can (?:also|help)"
    r"|if you(?: have| need| want| would like|['’]d like| require) (?:any|more|further|additional|me|another|help)"
    rf"(?P<wish>(?: {_WORD}){{0,10}}) (?:please|feel free|let me|just|i|do not hesitate|don['’]t hesitate)"
    r"|if (?:you(?:['’]d like| would like| want| wish| prefer| need to)|needed|helpful|useful)"
    r"(?: to)?\s?,? (?:i|just|please|feel free|let me)"
    rf"|(?:i )?hope (?:this|that|it|my) (?:(?:{_PRODUCT}|information) )?"
    r"(?:helps|is|was|gives|meets|answers|clarifies))\b"
    rf"(?P<offer>(?: (?!(?:who|which|because|was|were|had|stated|told|said)\b)(?:\d{{1,4}}-word|{_WORD})){{0,24}})"
)
_SELF_PRAISE = (
    # This summary captures the key points of the passage.
    rf"(?:this|the(?: above)?) (?:(?:brief|concise|short) )?(?:summary|overview|answer|response)"
    rf"(?:{_ADVERB} {_VERB}| is based (?:(?:solely|only) )?on| is derived from)(?: (?:all|only|just))?(?: of)?"
    rf"(?: (?:the|its))?(?: {_KEY}){{0,3}}(?: {_GIST}(?: and {_GIST})?)?"
    rf"(?:(?: (?:(?:presented|provided|mentioned|contained) )?(?:of|from|in))?"
    rf" {_THE}{_GIVEN}{{0,3}}(?:passages?|texts?|articles?|excerpts?|documents?|data|information))?"
)
_SUMMARIZED = rf"i(?:['’]ve| have)? summari[sz]ed {_PASSAGES}(?: (?:below|above|for you|as follows)){{0,2}}"
_COUNT = r"\(?(?:(?:word count|words|length)\s?:\s?\d{1,5}(?: words)?|\d{1,5} words|end of (?:the )?summary)\)?"


def _pattern(*alternatives: str, end: str) -> re.Pattern[str]:
    pattern = rf"[*_#\s]*(?:{'|'.join(alternatives)}){end}"
    return re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE)


_BEGINNING = _pattern(*_BEGINNINGS, rf"{_ANNOUNCEMENT}\s?:[*_]*", end=" ")
_LANGUAGES = (
    "English|French|German|Spanish|Italian|Portuguese|Dutch|Chinese|Mandarin|Japanese|Korean|Arabic|Hindi|Russian"
    "|Polish|Turkish|Swedish|Danish|Norwegian|Finnish|Greek|Ukrainian"
)
_END = r"[\s.,:!?*_)]*$"
_WHOLE = _pattern(_BEGINNINGS[0], _LABEL, _POLITE, _HERE, _ANNOUNCEMENT, _SELF_PRAISE, _SUMMARIZED, _COUNT, end=_END)
_WHOLE_OFFER = _pattern(_OFFER, end=_END)
_NAME = re.compile(rf"(?<=\s)(?!(?:I|AI|PDF|TL|LinkedIn|Twitter|Markdown|{_LANGUAGES})\b)[A-Z]")
_NamesSubject = Callable[[Sequence[str]], bool]


def lead_in_length(sentence: str, names_subject: _NamesSubject | None = None) -> int:
    """Returns how many characters at its beginning state nothing: 0, or up to all of them. English only.

    Args:
        names_subject: whether words of an announcement or an offer, casefolded and in order, only name what is
            summarized; None: there are no such words.
    """
    length = 0
    while _states_nothing(match := _BEGINNING.match(sentence, length, length + _LONGEST_LEAD_IN), names_subject):
        length = match.end()
    rest = sentence[length:]
    if len(rest) <= _LONGEST_LEAD_IN and (
        _states_nothing(_WHOLE.match(rest), names_subject)
        or (_states_nothing(_WHOLE_OFFER.match(rest), names_subject, _OFFER_WORDS) and not _NAME.search(rest))
    ):
        return len(sentence)
    return length if sum(map(str.isalnum, rest)) >= _FEWEST_LETTERS_LEFT else 0


def _states_nothing(
    match: re.Match[str] | None, names_subject: _NamesSubject | None, free: AbstractSet[str] = frozenset()
) -> TypeGuard[re.Match[str]]:
    """Tells whether something was found whose free words, in its groups, name something at most."""
    if match is None:
        return False
    others = [word for word in other_words(" ".join(filter(None, match.groups()))) if word not in free]
    return not others or (names_subject is not None and names_subject(others))


_PHRASE_LIST = """
    a an the this that these those of about on in into for to from with at as and or if whether what how any anything
    all each every some something other else another more most further additional extra few less fewer also only just
    than under around here there below above following i i'd i'll i'm i've me my it it's its you you'd you'll you've
    your is isn't are aren't be can can't could do don't doesn't did have would may might s let know feel free please
    happy glad hesitate reach out back ask contact need needs needed want like liked prefer help helps helpful useful
    assist assistance clarify clarifies clarification explain explanation expand elaborate elaboration dive deeper
    adjust adjustment adjustments change changes edit edits modify modifications revise revised revision revisions
    refine refined rewrite rewritten rephrase shorten shortened lengthen simplify simplified translate translated add
    include focus provide provided create make give get see meets works work answers asked requested based feedback
    summary summaries summarize summarise summarized summarised overview synopsis abstract recap digest answer response
    version versions draft outline list bullet bullets bulleted point points key main important essential relevant
    central major core takeaway takeaways highlight highlights fact facts finding findings idea ideas detail details
    detailed information message event events theme themes topic topics aspect aspects content section sections part
    parts paragraph paragraphs sentence sentences word words length tone style format bold title passage passages text
    texts article articles excerpt excerpts document documents data context transcript source sources original review
    reviews report story news given supplied structured same json material question questions request requests
    requirements concern concerns specific particular clear concise brief short shorter longer long quick simple easy
    objective neutral plain factual comprehensive general different complete full breakdown condensed executive improved
    corrected updated final new high level well organized written abstractive extractive accurate faithful balanced
    focusing focused highlighting covering covers capturing keeping using regarding titled entitled presented mentioned
    contained discussed described looking think tailor audience turn even what's there's conversation dialogue
    discussion meeting chapter page paper study essay by organised grouped arranged sorted chronologically reader
    readers friendly child children kid kids beginners captures keeps preserves go up follow aimed suitable intended eye
    glance translation language languages tldr shared attached order chronological
"""
_PHRASE_WORDS = frozenset([*_PHRASE_LIST.split(), *_LANGUAGES.casefold().split("|")])
_LABEL_LIST = """
    background causes cause reason reasons impact impacts effect effects consequence consequences criticism criticisms
    critics reaction reactions opposition support responses cost costs funding finance finances financing budget price
    prices design construction timeline history outlook future next step steps conclusion conclusions result results
    outcome outcomes benefit benefits advantages disadvantages risk risks challenge challenges problem problems solution
    solutions issue issues purpose goal goals objectives aim aims introduction intro setting plot participants people
    person place places location locations date dates time who why when where which numbers figures statistics stats
    quote quotes implications significance importance recommendation recommendations action actions item items decision
    decisions agenda plan plans proposal proposals pros cons strengths weaknesses limitations method methods methodology
    analysis definition definitions example examples feature features specifications status situation project
    development developments measure measures speaker reporter narrator interviewer host note notes bottom line tl dr
    initial previous current past present local public economic environmental social political legal financial technical
    historical medical international national community government view views opinion opinions perspective perspectives
    position positions role roles use uses safety security environment stakeholders players characters character matters
    matter big picture sentiment sentiments count headline headlines thoughts supporting evidence counterpoints
    counterpoint arguments argument terms term glossary infrastructure moreover furthermore additionally meanwhile
    however finally firstly secondly thirdly lastly education health healthcare technology tech science economy
    economics business trade industry market markets politics policy policies culture arts sports sport weather climate
    energy transport transportation travel tourism housing agriculture media regulation regulations legislation
    compliance governance administration leadership management operations organization staffing workforce marketing
    products product services service research innovation references reference reading resources scope approach strategy
    strategies tactics principles sustainability biodiversity geography demographics language communication diplomacy
    legacy origins origin early later life career personal childhood reception structure genre lesson lessons learned
    learnt insights insight observations trends trend patterns forecast forecasts predictions projections expectations
    expected proposed planned related mixed recommended suggested unanswered remaining pending required milestones
    milestone deadlines deadline schedule duration stage stages phase phases scenario scenarios option options
    alternatives comparison contrast similarities differences tradeoffs caveats caveat exceptions assumptions hypothesis
    keywords tags category categories type types subtitle author authors publication publisher caption slogan tagline
    verdict lede nut graf protagonist antagonist relationships teams team members responsibilities follow ups update
    announcements announcement
"""
LABEL_WORDS = frozenset(_LABEL_LIST.split())
"""What parts of a summary are called: "Background:"; an offer may name them too."""
_OFFER_LIST = """
    go goes tweet tweets email emails post posts thread threads slide slides deck presentation flashcards quiz table
    infographic linkedin twitter blog script speech podcast press release memo newsletter students teenagers experts
    professionals specialists executives lay layman layperson laymen non technical walk walks explore explores discuss
    compare compares look looks formal informal casual professional friendlier simpler plainer punchier tighter deep
    pull pick use save copy paste others again hear curious interested happier ready anytime condense cut trim polish
    proofread write writing prepare generate offer offers suggest suggestions pdf markdown csv json html ai great hope
    enjoy reading understand understanding learn who whom anyone someone colleague colleagues team boss client clients
    come comes keep broken down
"""
_OFFER_WORDS = LABEL_WORDS | frozenset(_OFFER_LIST.split())
_SIZED = re.compile(rf"\b{_NUMBER}-(?:word|sentence|point|paragraph|page)\b")
_OTHER = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def other_words(text: str) -> list[str]:
    """Returns the words, casefolded and in order, that are no part of what announces or offers a summary."""
    words = (word.removesuffix("'s") for word in _OTHER.findall(_SIZED.sub(" ", text.casefold().replace("’", "'"))))
    return [word for word in words if word not in _PHRASE_WORDS]
