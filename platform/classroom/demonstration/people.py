"""Who is in the demonstration: thirty learners in three languages, and three who teach them."""

import random
from dataclasses import dataclass

from accounts.models import Person

DOMAIN = "demonstration.example"  # a name that no mail can ever reach
NAMES = {
    "en": "Amara Okafor,Ben Whitfield,Chloe Fraser,Daniel Osei,Ella Marsh,Finn Gallagher,"
    "Grace Holloway,Hamid Rahimi,Isla Boyd,Jonah Price",
    "fr": "Camille Lefèvre,Hugo Garnier,Inès Benali,Jules Marchand,Léa Fontaine,Mathis Colin,"
    "Noémie Roux,Oscar Thévenet,Sarah Diallo,Théo Blanchard",
    "tr": "Ayşe Yılmaz,Burak Şahin,Ceren Aydın,Deniz Kılıç,Elif Çetin,Emre İnan,Gizem Öztürk,"
    "Işıl Kaya,Kerem Doğan,Zeynep Ünal",
}
INSTRUCTOR = ("instructor", "Dr. Miriam Aksoy")
ASSISTANTS = (("assistant-1", "Paul Renard"), ("assistant-2", "Selin Güneş"))


@dataclass(frozen=True)
class Learner:
    """One of the thirty: how often they are right at once, how well they write, how far they
    got, and whether they have stopped coming."""

    person: Person
    language: str
    skill: float
    care: float
    lessons: float  # 4.5: into the fifth
    is_stuck: bool
    fails: bool  # five failed Runs on one step

    @property
    def whole(self) -> int:
        return int(self.lessons)


def address(name: str) -> str:
    return f"{name}@{DOMAIN}"


def teacher(name: str, called: str, password: str | None = None) -> Person:
    """With a password only where somebody shall sign in."""
    person: Person = Person.objects.create_user(address(name), password, name=called)
    return person


def learners(chance: random.Random, lessons: int) -> list[Learner]:
    """Their rows too. `lessons`: how many the course has."""
    named = [(language, name) for language, names in NAMES.items() for name in names.split(",")]
    chance.shuffle(named)
    people = []
    for number, (language, name) in enumerate(named, start=1):
        person = Person(email=address(f"learner-{number:02}"), name=name, language=language)
        person.set_unusable_password()
        people.append(person)
    Person.objects.bulk_create(people)
    return [_learner(place, person, chance, lessons) for place, person in enumerate(people)]


def _learner(place: int, person: Person, chance: random.Random, lessons: int) -> Learner:
    stuck = place % 10 == 3
    far = 2.6 + place % 4 if stuck else min(lessons, 5.4 + (place * 7 % 30) / 4)
    return Learner(
        person=person,
        language=person.language,
        skill=chance.uniform(0.45, 0.95),
        care=chance.choice((0.15, 0.4, 0.55, 0.7, 0.85, 0.95)),
        lessons=far,
        is_stuck=stuck,
        fails=place % 15 == 7,
    )
