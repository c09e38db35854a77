"""Which texts are English."""

import pytest

from pipeline.reading.language import is_english, is_english_prose, names_english

FOREIGN = {
    "Spanish": "El puente se cerrará durante nueve meses para las obras. Según el alcalde, costarán 4,2 millones.",
    "French": "Le pont sera fermé pendant neuf mois. Selon le maire, les travaux vont coûter 4,2 millions de dollars.",
    "German": "Die Brücke wird für neun Monate gesperrt. Nach Angaben des Rates kostet die Reparatur 4,2 Millionen.",
    "Italian": "Il ponte resterà chiuso per nove mesi. Secondo il sindaco, i lavori costano più di quanto si pensava.",
    "Portuguese": "A ponte será fechada por nove meses. As obras custam 4,2 milhões, e não há outra ponte.",
    "Dutch": "De brug is negen maanden dicht. Volgens de gemeente kost het herstel meer dan vier miljoen.",
    "Swedish": "Bron stängs i nio månader. Enligt kommunen kostar arbetet 4,2 miljoner, som inte finns i budgeten.",
    "Polish": "Most będzie zamknięty przez dziewięć miesięcy. Burmistrz mówi, że naprawa kosztuje cztery miliony.",
    "Turkish": "Köprü dokuz ay boyunca kapatılacak. Belediye başkanı, onarımın çok pahalı olduğunu söyledi.",
    "Russian": "Мост будет закрыт на девять месяцев. По словам мэра, ремонт обойдётся в четыре миллиона.",
    "Chinese": "这座桥将关闭九个月。市长说，维修费用为四百二十万美元。",
    "Japanese": "橋は9か月間閉鎖される。市長によると、修理には420万ドルかかる。",
    "Korean": "다리는 9개월 동안 폐쇄된다. 시장은 수리비가 420만 달러라고 말했다.",
    "Arabic": "سيغلق الجسر لمدة تسعة أشهر. وقال رئيس البلدية إن الإصلاحات ستكلف أربعة ملايين.",
    "one word of Cyrillic letters": "Мост",
    "two Chinese characters": "你好",
    "one word for certain": "Bei einem Unfall starben zwei Menschen.",
    "at the beginning of a sentence": "Una mujer dirige el museo.",
    "a quotation and who said it": "« Le pont est fermé », dit le maire.",
    "an English name": "Le gouverneur de la Bank of England a démissionné, mais il reste aussi à Londres.",
    "French, with an English quotation": (
        "Le maire a dit « the bridge is not safe » et il est parti. Les travaux sont dans les mains des experts, qui "
        "ne savent pas quand ils vont finir, mais la ville attend avec eux."
    ),
}
SHORT = {
    "German": [
        "Die Regierung will das Gesetz noch vor dem Sommer ändern.",
        "Ein Gericht in London verurteilt den Sänger zu drei Jahren Haft. Er will Berufung einlegen.",
        "Die Polizei sucht Zeugen. Der Täter flüchtete zu Fuß.",
        "Forscher finden neue Art von Frosch im Regenwald.",
    ],
    "French": [
        "Le gouvernement veut modifier la loi avant l'été.",
        "Un tribunal de Londres condamne le chanteur à trois ans de prison. Il va faire appel.",
        "La police cherche des témoins. Le suspect a pris la fuite.",
        "Des chercheurs découvrent une nouvelle espèce de grenouille.",
    ],
    "Spanish": [
        "El gobierno quiere cambiar la ley antes del verano.",
        "Un tribunal de Londres condena al cantante a tres años de cárcel. Su abogado va a apelar.",
        "La policía busca testigos. El sospechoso sigue libre.",
        "Descubren una nueva especie de rana en la selva.",
    ],
    "Italian": [
        "Il governo vuole cambiare la legge prima dell'estate.",
        "Un tribunale di Londra condanna il cantante a tre anni di carcere. La difesa presenta ricorso.",
        "La polizia cerca testimoni. Il sospetto resta in fuga.",
        "Scoperta una nuova specie di rana nella foresta.",
    ],
    "Dutch": [
        "De regering wil de wet voor de zomer wijzigen.",
        "Een rechtbank in Londen veroordeelt de zanger tot drie jaar cel. Hij gaat in beroep.",
        "De politie zoekt getuigen. De verdachte is nog op vrije voeten.",
        "Onderzoekers vinden nieuwe kikker in het regenwoud.",
    ],
    "Portuguese": [
        "O governo quer mudar a lei antes do verão.",
        "Um tribunal de Londres condena o cantor a três anos de prisão. A defesa vai recorrer.",
        "A polícia procura testemunhas. O suspeito continua em fuga.",
        "Descoberta nova espécie de sapo na floresta.",
    ],
}
"""One or two sentences of news. The margin was not chosen on them."""
ENGLISH = {
    "Spanish names": "Los Angeles, El Salvador, Las Vegas, La Paz and Rio de Janeiro beat Costa del Sol.",
    "accents": "José Muñoz, Zoë Hölderlin, Łukasz Kowalski, Ömer Şahin and Đặng Văn Lâm won in São Paulo.",
    "lower case": "luis van gaal said that ángel di maría and radamel falcao will not leave the club.",
    "a quotation": 'He said "je ne sais pas" and "c\'est la vie", then left the room with his lawyer.',
    "loan words": "The café served crème brûlée and jalapeño soup, and the maître d' was kind to her.",
    "code": "for (int i = 0; i < n; i++) { el = document.getElementById(ids[i]); les.push(el); sur = el; }",
    "a listing": "drwxr-xr-x 2 root root 4096 /usr/share/locale/de /usr/share/locale/es /usr/share/locale/nl",
    "numbers": "4,200 5,300 17 % 2.5 kg 1931-1945 $4.2m",
    "Greek letters": "The angles α, β, γ and δ of the figure are equal; μ and σ are not.",
    "a Chinese name": "The Chinese title of the film, 卧虎藏龙, means a crouching tiger and a hidden dragon.",
    "a title": "Der Rosenkavalier",
    "a film": "La La Land wins six Oscars.",
    "the weather": "El Niño returns. Los Angeles floods.",
    "firms": "Der Spiegel sues Dolce & Gabbana. Volkswagen und Porsche merge.",
    "a country": "Côte d'Ivoire beats Ghana.",
    "a party": "Alternative für Deutschland gains ground.",
    "first names": "Una says goodbye. Uma Thurman stars.",
    "lower case names": "Mata, di maria, januzaj, rooney, van persie, herrera, carrick, blind, fellaini.",
    "one who says it": 'Macron: "Je ne sais pas."',
    "words of several languages": "die, was, an, in, me, a, on, do, no, so, come, are, pour, sale",
    "dialogue": "Uh, no, no, so come on, man. Do so.",
    "a headline": "Police arrest two men.",
    "capitals": "POLICE ARREST TWO MEN IN LA",
    "a command": "rm -rf /usr/share/locale/de/LC_MESSAGES/ist.mo",
    "dishes": "Noodles (ramen, udon, soba, chow mein, egg noodles)",
    "a determinant": "det = -3 - 90 + 675",
    "a sign": "Δφ = φ2 - φ1 = 0.610865 - 0.436332",
    "a slip": "i think her backgro und totally bothers me",
    "one word": "Ja",
    "nothing": "",
    "an emoji": "🙂🙂🙂",
}
NOTES = [
    "doch tool rewritten in Rust",
    "byte order mark stripped, csv parsing fixed",
    "onde sensor reads zero",
    "och ward reopens Monday",
    "zij deployment rolled back",
    "numa node 3 offline",
    "kan ban board closed",
    "nova compute service restarted",
    "sempre festival opens Saturday",
]
"""Headlines and notes of English with one word that another language has as well: of 70 those nearest to it."""


@pytest.mark.parametrize("language", FOREIGN)
def test_text_in_another_language_is_not_english(language: str) -> None:
    assert not is_english(FOREIGN[language])


@pytest.mark.parametrize("language", SHORT)
def test_one_sentence_in_another_language_is_enough(language: str) -> None:
    assert [text for text in SHORT[language] if is_english(text)] == []


@pytest.mark.parametrize("kind", ENGLISH)
def test_english_is_english_whatever_it_names_and_quotes(kind: str) -> None:
    assert is_english(ENGLISH[kind])


@pytest.mark.parametrize("note", NOTES)
def test_a_single_word_of_another_language_makes_no_note_foreign(note: str) -> None:
    assert is_english(note)


@pytest.mark.parametrize("unit", ["el la de los que ", "Van der Rohe ", "é", "A b c ", "中文", "“a", "α "])
def test_the_end_of_a_long_text_is_not_read(unit: str) -> None:
    text = (unit * 20_000)[:20_000]
    assert is_english(text) == is_english(text + "The bridge was closed. " * 100_000)


def test_prose_is_english_beyond_doubt_and_a_scrap_is_not() -> None:
    assert is_english_prose("The bridge will be closed for nine months.")
    assert [text for text in (*FOREIGN.values(), "Bridge", "", "4.2 km") if is_english_prose(text)] == []


@pytest.mark.parametrize(("language", "expected"), [("English", True), ("en-GB", True), ("German", False), ("", False)])
def test_a_language_is_named_by_word_or_code(language: str, *, expected: bool) -> None:
    assert names_english(language) is expected
