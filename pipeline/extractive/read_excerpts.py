"""Reads texts into excerpts: what stands around each, and which cannot stand without which."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from pipeline.extractive.excerpt import PROSE, Excerpt, ExcerptKind
from pipeline.extractive.listing_lines import is_sentence_end
from pipeline.extractive.markdown import written_alone
from pipeline.extractive.pieces import Piece, cut_pieces
from pipeline.extractive.source_blocks import is_caption, is_link
from pipeline.extractive.wording import count_words, leans_on_previous, starts_inside
from pipeline.text.technical_terms import find_terms

_WHOLE_LIST_CHARS = 900  # a list up to this length is kept or dropped as a whole: "three components:" needs all three
_WHOLE_PROCEDURE_CHARS = 6_000  # a procedure with a missing step is wrong; one of many pages is a document
_WHOLE_LIST_ITEMS = 60
_FEW_WORDS = 5  # "Be careful!"
_LONGEST_CHAIN = 4  # neighbours that point back one after the other: all "It ..." would be one excerpt else
_LIST_KINDS = (ExcerptKind.BULLET, ExcerptKind.STEP)


def read_excerpts(texts: Sequence[str], count_tokens: Callable[[str], int]) -> list[Excerpt]:
    """Reads texts that follow each other in one document: sentences, lists and sections may go on in the next.

    Args:
        texts: chunks of a batch, or texts that this writer made, in the order of the document.
        count_tokens: of a text.

    Returns:
        Excerpts in the order of the document. Linear in the length of the texts.
    """
    reader = _Reader()
    for piece in cut_pieces(texts):
        reader.place(piece, count_tokens)
    return _with_later_needs(reader.excerpts)


@dataclass(slots=True)
class _Reader:
    """Places pieces one by one, and knows what stands above."""

    excerpts: list[Excerpt] = field(default_factory=list)
    open_headings: list[int] = field(default_factory=list)
    chain_length: int = 0

    def place(self, piece: Piece, count_tokens: Callable[[str], int]) -> None:
        """Adds the piece with its section, and with those of its needs that stand before it."""
        if piece.kind is ExcerptKind.HEADING:
            while self.open_headings and self.excerpts[self.open_headings[-1]].level >= piece.level:
                self.open_headings.pop()
        section = self.open_headings[-1] if self.open_headings else -1
        marked = "# " + piece.text if piece.kind is ExcerptKind.HEADING else piece.text
        excerpt = Excerpt(
            kind=piece.kind,
            text=piece.text,
            level=piece.level,
            mark=piece.mark,
            block=piece.block,
            origin=piece.origin,
            section=section,
            needs=() if section < 0 else (section,),
            token_count=0,
            terms=tuple(find_terms(marked)),
            is_cut=_is_cut(piece),
            follows_gap=piece.follows_gap,
        )
        excerpt = replace(
            excerpt,
            needs=excerpt.needs + self._leans_on(excerpt),
            token_count=count_tokens(written_alone(excerpt)),
        )
        if piece.kind is ExcerptKind.HEADING:
            self.open_headings.append(len(self.excerpts))
        self.excerpts.append(excerpt)

    def _leans_on(self, excerpt: Excerpt) -> tuple[int, ...]:
        """Returns the excerpt right before it if that must not be missing: at most one."""
        previous = self.excerpts[-1] if self.excerpts else None
        if previous is None or previous.kind is ExcerptKind.HEADING or excerpt.kind is ExcerptKind.HEADING:
            return ()
        position = len(self.excerpts) - 1
        if excerpt.kind is ExcerptKind.TABLE_ROW:
            return (position,) if previous.kind is ExcerptKind.TABLE_HEAD else previous.needs[-1:]
        if previous.kind is ExcerptKind.LABEL:
            is_labelled = excerpt.kind is not ExcerptKind.LABEL and not is_caption(previous.text)
            return (position,) if is_labelled else ()
        if excerpt.kind in _LIST_KINDS and excerpt.kind is previous.kind and excerpt.mark:  # the lead-in of the list
            return tuple(need for need in previous.needs if self.excerpts[need].text.endswith(":"))
        is_linked = _continues(excerpt, previous) and self.chain_length < _LONGEST_CHAIN
        self.chain_length = self.chain_length + 1 if is_linked else 0
        return (position,) if is_linked else ()


def _continues(excerpt: Excerpt, previous: Excerpt) -> bool:
    """Tells whether an excerpt goes on with a list item, was announced, or points back."""
    if previous.kind not in PROSE:
        return False
    if excerpt.kind is ExcerptKind.CODE:  # commands without a word about them are of no use
        return True
    if (excerpt.kind in _LIST_KINDS and not excerpt.mark) or previous.text.endswith(":"):
        return True
    if excerpt.kind is not ExcerptKind.SENTENCE or previous.kind is not ExcerptKind.SENTENCE:
        return False
    is_fragment = starts_inside(excerpt.text) or is_link(excerpt.text) or count_words(excerpt.text) < _FEW_WORDS
    return is_fragment or leans_on_previous(excerpt.text)


def _is_cut(piece: Piece) -> bool:
    if piece.kind is not ExcerptKind.SENTENCE:
        return is_caption(piece.text)
    is_whole = is_sentence_end(piece.text) or piece.text.endswith(":")
    return not is_whole or starts_inside(piece.text)


def _with_later_needs(excerpts: list[Excerpt]) -> list[Excerpt]:
    """Adds needs that stand behind: what a lead-in announces, all steps of a procedure, all items of a short list."""
    later: list[set[int]] = [set() for _ in excerpts]
    for first, last in _lists(excerpts):
        limit = _WHOLE_PROCEDURE_CHARS if excerpts[first].kind is ExcerptKind.STEP else _WHOLE_LIST_CHARS
        is_short = last - first <= _WHOLE_LIST_ITEMS
        is_whole = is_short and sum(len(excerpt.text) for excerpt in excerpts[first:last]) <= limit
        for position in range(first, last - 1):
            if is_whole:
                later[position].add(position + 1)
                later[position + 1].add(position)
    for position, (excerpt, following) in enumerate(pairwise(excerpts)):
        is_lead_in = excerpt.kind in (ExcerptKind.LABEL, ExcerptKind.TABLE_HEAD) or excerpt.text.endswith(":")
        if is_lead_in and excerpt.kind is not ExcerptKind.HEADING and position in following.needs:
            later[position].add(position + 1)
    return [
        replace(excerpt, needs=tuple(sorted({*excerpt.needs, *extra}))) if extra else excerpt
        for excerpt, extra in zip(excerpts, later, strict=True)
    ]


def _lists(excerpts: Sequence[Excerpt]) -> Iterator[tuple[int, int]]:
    """Yields the ranges of neighbouring list items of one kind."""
    first = 0
    while first < len(excerpts):
        last = first + 1
        if excerpts[first].kind in _LIST_KINDS:
            while last < len(excerpts) and excerpts[last].kind is excerpts[first].kind:
                last += 1
            yield first, last
        first = last
