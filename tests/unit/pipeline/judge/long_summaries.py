"""A summary of 241 sentences: 236 stand in its source, five are invented."""

_TOWNS = ("Harlow", "Selby", "Corwen", "Dover", "Wexford", "Tarbert", "Melrose", "Ludlow", "Kelso", "Oakham", "Thirsk")
_WORKS = ("bridge", "library", "tram", "hospital", "harbour", "theatre", "reservoir", "market")
_TEMPLATES = (
    "The town of {town} built a {work} for {cost} million dollars.",
    "In {year} a storm damaged the {work} in {town}.",
    "{count} people in {town} asked for a new {work}.",
)
FACTS = [
    template.format(town=town, work=work, cost=3 + at + 7 * kind, year=1900 + at, count=200 + 13 * at)
    for kind, template in enumerate(_TEMPLATES)
    for at, (town, work) in enumerate((town, work) for town in _TOWNS for work in _WORKS)
]
SOURCE = "\n\n".join(" ".join(FACTS[at : at + 8]) for at in range(0, len(FACTS), 8))
INVENTED = (
    "Volcanoes buried vineyards beneath grey ash.",
    "Astronauts planted tomatoes behind craters.",
    "Emperor Naruhito abdicated yesterday.",
    "Scientists taught elephants violin lessons.",
    "Pirates captured chocolate submarines.",
)
_PLACES = (20, 70, 121, 180, 240)
SENTENCES = FACTS[20:256]
for _place, _sentence in zip(_PLACES, INVENTED, strict=True):
    SENTENCES.insert(_place, _sentence)
SUMMARY = " ".join(SENTENCES)
