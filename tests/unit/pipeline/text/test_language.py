"""Which texts are English."""

import pytest

from pipeline.text.language import is_english

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
    "French, with an English quotation": (
        "Le maire a dit « the bridge is not safe » et il est parti. Les travaux sont dans les mains des experts, qui "
        "ne savent pas quand ils vont finir, mais la ville attend avec eux."
    ),
}
ENGLISH = {
    "names": "Ludwig Mies van der Rohe, Vincent van Gogh, Ursula von der Leyen and Leonardo da Vinci met in La Paz.",
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
    "one word": "Ja",
    "nothing": "",
    "an emoji": "🙂🙂🙂",
}


@pytest.mark.parametrize("language", FOREIGN)
def test_text_in_another_language_is_not_english(language: str) -> None:
    assert not is_english(FOREIGN[language])


@pytest.mark.parametrize("kind", ENGLISH)
def test_english_is_english_whatever_it_names_and_quotes(kind: str) -> None:
    assert is_english(ENGLISH[kind])


@pytest.mark.parametrize("unit", ["el la de los que ", "Van der Rohe ", "é", "A b c ", "中文"])
def test_the_end_of_a_long_text_is_not_read(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    assert is_english(text) == is_english(text + "The bridge was closed. " * 100_000)
