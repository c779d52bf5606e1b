"""Draws constituents of the embedded English-French grammar at random, each of an exact length in English words."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

from . import lexicon, syntax
from .lexicon import Adjective, Determiner, Noun, Preposition, Verb
from .syntax import Clause, Manner, Nominal, Phrase, pair

LONGEST_CLAUSE = 16

INTRODUCING = (lexicon.THE,) * 10 + (lexicon.A, lexicon.SOME) * 5 + (lexicon.THIS,) * 2 + lexicon.POSSESSIVES
VARIED_DETERMINERS = (*INTRODUCING, lexicon.EVERY, lexicon.SEVERAL, lexicon.MANY, *lexicon.NUMERALS)
NEGATED_DETERMINERS = (lexicon.THE,) * 4 + (lexicon.A_NEGATED, lexicon.ANY) * 3 + (lexicon.THIS, *lexicon.POSSESSIVES)
AFTER_DE_DETERMINERS = (lexicon.THE,) * 10 + (lexicon.A,) * 3 + (lexicon.THIS, *lexicon.POSSESSIVES, *lexicon.NUMERALS)
COUNTED_DETERMINERS = (lexicon.THE,) * 3 + (lexicon.THIS, *lexicon.POSSESSIVES)

_SLOTS = ("all", "numeral", "very", "before", "quality", "origin", "kind", "stack", "stack", "stack")


def _sensible(slots: Sequence[str]) -> bool:
    if "very" in slots and not {"before", "quality"} & set(slots):
        return False
    # « tous les quatre hommes » would be every fourth man; an adjective of kind might belong to the inner noun.
    return not ({"all", "numeral"} <= set(slots) or ("stack" in slots and {"origin", "kind"} & set(slots)))


def _weight(slots: Sequence[str]) -> int:
    return 1 if {"all", "numeral"} & set(slots) else 4 if "stack" in slots else 2


FRONTS = {
    size: [slots for slots in sorted({*combinations(_SLOTS, size)}) if _sensible(slots) for _ in range(_weight(slots))]
    for size in range(4)
}
"""Ways to put 0 to 3 words between the determiner and the English noun, the common ones repeated."""

POSITIONS = ("before", "quality", "origin", "kind")


@cache
def _nouns(tags: frozenset[str]) -> list[Noun]:
    return [noun for noun in lexicon.NOUNS if noun.tags & tags]


@cache
def _adjectives(position: str, tags: frozenset[str]) -> list[Adjective]:
    return [item for item in lexicon.ADJECTIVES if item.position == position and item.tags & tags]


def _admitted(noun: Noun) -> frozenset[str]:
    """Slots before a noun that the lexicon can fill."""
    adjectives = {position for position in POSITIONS if _adjectives(position, noun.tags)}
    stack = {"stack"} if "stack" in noun.tags else set()
    return frozenset({"all", "numeral", "very"} | adjectives | stack)


ADMITTED = {noun: _admitted(noun) for noun in lexicon.NOUNS}


class DeadEndError(Exception):
    """A choice left a length that no construction fills; another choice is tried."""


@dataclass(frozen=True)
class _Context:
    """Where a constituent stands.

    `tense` is that of the clause, `previous` the clause before it. `opening` is whether a sentence or a coordinator
    begins here, so that "when" or "because" does not follow on another. `relatives` allows relative clauses, `joint`
    coordinated predicates, `anaphora` pronouns that look for an antecedent in the sentence.
    """

    tense: str
    previous: Clause | None = None
    opening: bool = True
    relatives: bool = True
    joint: bool = True
    anaphora: bool = True


_PredicateMaker = Callable[[int, Nominal, _Context], Clause]

# Manners of a verb by tense, each with the number of words it adds and its weight.
_LEXICAL_MANNERS = {
    "present": (
        (Manner(), 0, 10),
        (Manner(frequency="often"), 1, 3),
        (Manner(polarity="never"), 1, 1),
        (Manner(modal="can"), 1, 1),
        (Manner(modal="must"), 1, 1),
        (Manner(modal="can", polarity="not"), 1, 1),
        (Manner(polarity="not"), 2, 4),
        (Manner(modal="want"), 2, 1),
        (Manner(modal="must", polarity="not"), 2, 1),
        (Manner(polarity="not", frequency="often"), 3, 1),
        (Manner(modal="want", polarity="not"), 4, 1),
    ),
    "past": (
        (Manner("past"), 0, 8),
        (Manner("past", frequency="often"), 1, 1),
        (Manner("past", polarity="never"), 1, 1),
        (Manner("past", polarity="not"), 2, 3),
        (Manner("past", polarity="not", frequency="often"), 3, 1),
    ),
}
_BE_MANNERS = {
    tense: (
        (Manner(tense), 0, 6),
        (Manner(tense, frequency="often"), 1, 1),
        (Manner(tense, polarity="never"), 1, 1),
        (Manner(tense, polarity="not"), 1, 3),
        (Manner(tense, polarity="not", frequency="often"), 2, 1),
    )
    for tense in ("present", "past")
}


class Composer:
    """Draws constituents of an exact length, counted in English words without punctuation."""

    def __init__(self, rng: random.Random):
        self.rng = rng

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def sentence(self, length: int) -> Phrase:
        """A sentence without its full stop. Raises DeadEndError when a choice leaves words that nothing fills."""
        tense = self.rng.choice(("present", "present", "past"))
        return self.clauses(length, _Context(tense)).phrase

    # Clauses

    def clauses(self, length: int, context: _Context) -> Clause:
        """One clause, or a clause linked to more clauses, drawn from left to right."""
        if length < 7 or (length <= LONGEST_CLAUSE and self.chance(0.6)):
            return self.clause(length, context)
        kinds: list[Callable[[int, _Context], Clause]] = [self.coordinated]
        if context.opening:
            kinds += [self.coordinated, self.subordinated, self.subordinated, self.fronted]
            if context.tense == "present":
                kinds.append(self.reported)
        return self.rng.choice(kinds)(length, context)

    def coordinated(self, length: int, context: _Context) -> Clause:
        """`The man sings, and the woman dances.`"""
        word = self.rng.choice(tuple(lexicon.COORDINATORS))
        link = pair(",", ",") + pair(word, lexicon.COORDINATORS[word])
        return self.linked(length, context, link, opening=True)

    def subordinated(self, length: int, context: _Context) -> Clause:
        """`The man sings because the woman dances.`"""
        word = self.subordinator(context)
        return self.linked(length, context, pair(word, lexicon.SUBORDINATORS[word]), opening=False)

    def linked(self, length: int, context: _Context, link: Phrase, *, opening: bool) -> Clause:
        first = self.clause(self.rng.randint(3, min(LONGEST_CLAUSE, length - 4)), context)
        rest = length - 1 - _words(first.phrase)
        second = self.clauses(rest, replace(context, previous=first, opening=opening))
        return replace(second, phrase=first.phrase + link + second.phrase)

    def fronted(self, length: int, context: _Context) -> Clause:
        """`When the man sings, the woman dances.`"""
        word = self.subordinator(context)
        context = replace(context, opening=False)
        first = self.clause(self.rng.randint(3, min(LONGEST_CLAUSE, length - 4)), context)
        rest = length - 1 - _words(first.phrase)
        second = self.clauses(rest, replace(context, previous=first))
        opening = pair(word, lexicon.SUBORDINATORS[word]) + first.phrase + pair(",", ",")
        return replace(second, phrase=opening + second.phrase)

    def subordinator(self, context: _Context) -> str:
        words = tuple(lexicon.SUBORDINATORS) if context.tense == "present" else ("because", "when")
        return self.rng.choice(words)

    def reported(self, length: int, context: _Context) -> Clause:
        """`The man says that the woman dances.`"""
        subject = self.subject(self.rng.randint(1, min(4, length - 5)), context, frozenset({"person"}))
        verb = self.rng.choice(lexicon.SPEECH)
        opening = subject.phrase + syntax.predicate(subject, verb, Manner()) + pair("that", "que")
        tense = self.rng.choice(("present", "past"))
        context = replace(context, tense=tense, previous=Clause(opening, subject), opening=False)
        told = self.clauses(length - _words(opening), context)
        return replace(told, phrase=opening + told.phrase)

    def clause(self, length: int, context: _Context) -> Clause:
        if context.opening and length >= 7 and self.chance(0.1):
            place = self.place(self.rng.randint(3, length - 3), replace(context, relatives=False))
            main = self.clause(length - _words(place), replace(context, opening=False))
            return replace(main, phrase=place + pair(",", ",") + main.phrase)
        size = 1 if self.chance(0.4) else self.rng.randint(1, min(9, length - 1))
        subject = self.subject(size, context, self.subject_kind(size, length - size))
        done = self.predicate(length - size, subject, context)
        return Clause(subject.phrase + done.phrase, subject, done.object)

    def subject_kind(self, size: int, predicate_size: int) -> frozenset[str]:
        kinds = ["person"] * 6
        if size > 1:
            kinds.append("animal")
            if predicate_size > 1:
                kinds += ["thing", "thing", "place", "text", "body", "area"]
        return frozenset({self.rng.choice(kinds)})

    def subject(self, size: int, context: _Context, tags: frozenset[str]) -> Nominal:
        if size > 1:
            return self.noun_phrase(size, tags, context, determiners=VARIED_DETERMINERS, coordination=True)
        if self.chance(0.3):
            return self.name()
        antecedent = context.previous.subject if context.previous else None
        words = ["me", "him", "her", "us"]
        if context.anaphora and (context.previous is None or _third_plural(antecedent)):
            words.append("them")
        word = self.rng.choice(words)
        return syntax.subject_pronoun(lexicon.PRONOUNS[word], antecedent if word == "them" else None)

    # Predicates

    def predicate(self, length: int, subject: Nominal, context: _Context) -> Clause:
        """A predicate of the subject, as a clause without subject that remembers its direct object."""
        makers: list[_PredicateMaker] = [self.intransitive, *[self.transitive] * 3, self.giving]
        makers += [self.adjectival, self.located, *[self.passive] * (1 if "person" in subject.tags else 5)]
        if context.joint and length >= 3:
            makers.append(self.joint)
        return self.first_that_fits(makers, length, subject, context)

    def first_that_fits(
        self, makers: Sequence[_PredicateMaker], length: int, subject: Nominal, context: _Context
    ) -> Clause:
        for make in self.rng.sample(makers, len(makers)):
            try:
                return make(length, subject, context)
            except DeadEndError:
                continue
        raise DeadEndError

    def joint(self, length: int, subject: Nominal, context: _Context) -> Clause:
        """`sings and dances`; the first has no relative clause, which would claim the second for itself."""
        context = replace(context, joint=False)
        actions = [self.intransitive, self.transitive]
        inner = replace(context, relatives=False)
        first = self.first_that_fits(actions, self.rng.randint(1, length - 2), subject, inner)
        if any(word.text in ("not", "never", "cannot") for word in first.phrase.english):
            # "does not laugh and stays" would call for "but".
            raise DeadEndError
        context = replace(context, previous=replace(first, subject=subject))
        second = self.predicate(length - 1 - _words(first.phrase), subject, context)
        return replace(second, phrase=first.phrase + pair("and", "et") + second.phrase)

    def manner(self, room: int, manners: Sequence[tuple[Manner, int, int]]) -> tuple[Manner, int]:
        """A manner that adds at most `room` words, and how many it adds."""
        fitting = [entry for entry in manners if entry[1] <= room]
        if not fitting:
            raise DeadEndError
        manner, size, _ = self.rng.choices(fitting, weights=[weight for *_, weight in fitting])[0]
        if manner.frequency:
            # "not sometimes" is no English, and « est toujours parti » says that somebody is still away.
            words = ["often"]
            if manner.polarity == "plain":
                words.append("sometimes")
            if manner.tense == "present":
                words.append("always")
            manner = replace(manner, frequency=self.rng.choice(words))
        return manner, size

    def verb(self, verbs: Sequence[Verb], subjects: frozenset[str], tense: str) -> Verb:
        fitting = [verb for verb in verbs if verb.subjects & subjects and (tense == "present" or verb.past)]
        if not fitting:
            raise DeadEndError
        return self.rng.choice(fitting)

    def intransitive(self, length: int, subject: Nominal, context: _Context) -> Clause:
        verb = self.verb(lexicon.INTRANSITIVE, subject.tags, context.tense)
        manner, size = self.manner(length - 1, _LEXICAL_MANNERS[context.tense])
        adjuncts = self.adjuncts(length - 1 - size, context)
        return Clause(syntax.predicate(subject, verb, manner, [adjuncts]))

    def transitive(self, length: int, subject: Nominal, context: _Context) -> Clause:
        verb = self.verb(lexicon.TRANSITIVE, subject.tags, context.tense)
        manner, size = self.manner(length - 2, _LEXICAL_MANNERS[context.tense])
        room = length - 1 - size
        extra = 0 if self.chance(0.6) else self.rng.randint(0, min(6, room - 1))
        # An adjunct would seem to belong to a relative clause before it.
        inner = replace(context, relatives=context.relatives and extra == 0)
        direct = self.direct_object(room - extra, verb, subject, inner, negated=manner.polarity != "plain")
        adjuncts = self.adjuncts(extra, context)
        return Clause(syntax.predicate(subject, verb, manner, [direct, adjuncts]), object=direct)

    def giving(self, length: int, subject: Nominal, context: _Context) -> Clause:
        verb = self.verb(lexicon.GIVING, subject.tags, context.tense)
        manner, size = self.manner(length - 4, _LEXICAL_MANNERS[context.tense])
        room = length - 1 - size
        recipient_size = 2 if self.chance(0.5) else self.rng.randint(2, min(7, room - 1))
        # A relative clause in the object would claim the recipient for its own verb.
        inner = replace(context, relatives=False)
        negated = manner.polarity != "plain"
        direct = self.direct_object(room - recipient_size, verb, subject, inner, negated=negated)
        recipient = self.recipient(recipient_size, subject, context)
        return Clause(syntax.predicate(subject, verb, manner, [direct, recipient]), object=direct)

    def recipient(self, size: int, subject: Nominal, context: _Context) -> Phrase | Nominal:
        """`to us`, `to the man`"""
        if size == 2 and self.chance(0.7):
            word = self.rng.choice(_other_persons(subject, ("me", "us", "him", "her", "them")))
            return syntax.recipient_pronoun(lexicon.PRONOUNS[word])
        if size == 2:
            return syntax.prepositional(lexicon.TO, self.name(exclude=subject))
        return self.prepositional(lexicon.TO, size, context)

    def direct_object(self, size: int, verb: Verb, subject: Nominal, context: _Context, *, negated: bool) -> Nominal:
        if size > 1:
            if negated:
                inner = replace(context, relatives=False)
                return self.noun_phrase(size, verb.objects, inner, determiners=NEGATED_DETERMINERS)
            return self.noun_phrase(size, verb.objects, context, determiners=VARIED_DETERMINERS, coordination=True)
        return self.short_object(verb, subject, context)

    def short_object(self, verb: Verb, subject: Nominal, context: _Context) -> Nominal:
        """A pronoun or a name. "it" and "them" need a fitting object in the clause before, unless it is the first."""
        words: list[str] = []
        if "person" in verb.objects:
            if self.chance(0.4):
                return self.name(exclude=subject)
            words += _other_persons(subject, ("me", "us", "him", "her"))
        antecedent = context.previous.object if context.previous else None
        if context.anaphora and antecedent and antecedent.tags & verb.objects:
            if antecedent.plural:
                words += ["them"] * 4
            elif "person" not in antecedent.tags:
                words += ["it"] * 4
        elif context.anaphora and context.previous is None:
            words += ["them"] if verb.objects == syntax.PERSON else ["it", "it", "them"]
        if not words:
            raise DeadEndError
        word = self.rng.choice(words)
        return syntax.object_pronoun(lexicon.PRONOUNS[word], antecedent if word in ("it", "them") else None)

    def name(self, exclude: Nominal | None = None) -> Nominal:
        taken = {word.text for word in exclude.phrase.english} if exclude else set()
        return syntax.name(self.rng.choice([text for text in lexicon.NAMES if text not in taken]))

    def passive(self, length: int, subject: Nominal, context: _Context) -> Clause:
        """`is seen by the man`, `is given to us by the man`"""
        verbs = (*lexicon.TRANSITIVE, *lexicon.GIVING) if length >= 6 else lexicon.TRANSITIVE
        fitting = [verb for verb in verbs if verb.objects & subject.tags]
        verb = self.verb(fitting, lexicon.BY.objects, context.tense)
        recipients = [self.recipient(2, subject, context)] if verb in lexicon.GIVING else []
        room = length - 2 - 2 * len(recipients)
        manner, size = self.manner(room - 2, _BE_MANNERS[context.tense])
        agent = self.noun_phrase(room - size - 1, verb.subjects & lexicon.BY.objects, context)
        complements = [*recipients, syntax.prepositional(lexicon.BY, agent)]
        return Clause(syntax.passive(subject, verb, manner, complements))

    def adjectival(self, length: int, subject: Nominal, context: _Context) -> Clause:
        """`is not very old`, `is old and happy`."""
        manner, size = self.manner(length - 2, _BE_MANNERS[context.tense])
        room = length - 1 - size
        fitting = _adjectives("before", subject.tags) + _adjectives("quality", subject.tags)
        if room > 4 or len(fitting) < 2:
            raise DeadEndError
        first, second = self.rng.sample(fitting, 2)
        intensifier = self.rng.choice(tuple(lexicon.INTENSIFIERS)) if room in (2, 4) else ""
        phrase = syntax.adjective_phrase(subject, first, intensifier)
        if room > 2:
            phrase += pair("and", "et") + syntax.adjective_phrase(subject, second)
        return Clause(syntax.be(subject, manner, [phrase]))

    def located(self, length: int, subject: Nominal, context: _Context) -> Clause:
        """`is in the garden`"""
        if not subject.tags & {"person", "animal", "thing", "place"}:
            raise DeadEndError
        manner, size = self.manner(length - 4, _BE_MANNERS[context.tense])
        return Clause(syntax.be(subject, manner, [self.place(length - 1 - size, context)]))

    # Adjuncts

    def adjuncts(self, size: int, context: _Context) -> Phrase:
        if size == 0:
            return Phrase()
        if size == 1:
            word = self.rng.choice(tuple(lexicon.FINAL_ADVERBS))
            return pair(word, lexicon.FINAL_ADVERBS[word])
        if size > 3 and self.chance(0.2):
            return self.adjuncts(size - 1, replace(context, relatives=False)) + self.adjuncts(1, context)
        if size > 6 and self.chance(0.5):
            first = self.rng.randint(3, size - 3)
            return self.place(first, replace(context, relatives=False)) + self.company(size - first, context)
        return self.company(size, context) if size == 2 or self.chance(0.3) else self.place(size, context)

    def place(self, size: int, context: _Context) -> Phrase:
        return self.prepositional(self.rng.choice(lexicon.PLACE_PREPOSITIONS), size, context)

    def company(self, size: int, context: _Context) -> Phrase:
        return self.prepositional(lexicon.COMPANY, size, context)

    def prepositional(self, preposition: Preposition, size: int, context: _Context) -> Phrase:
        after_de = preposition.french.split()[-1] == "de"
        determiners = AFTER_DE_DETERMINERS if after_de else INTRODUCING
        nominal = self.noun_phrase(size - 1, preposition.objects, context, determiners=determiners)
        return syntax.prepositional(preposition, nominal)

    # Noun phrases

    def noun_phrase(
        self,
        size: int,
        tags: frozenset[str],
        context: _Context,
        *,
        determiners: Sequence[Determiner] = INTRODUCING,
        coordination: bool = False,
    ) -> Nominal:
        """A name if `size` is 1, else a noun with one of the tags; `coordination` allows two noun phrases."""
        if size == 1:
            if "person" not in tags:
                raise DeadEndError
            return self.name()
        if coordination and size >= 5 and self.chance(0.2):
            first_size = self.rng.randint(2, min(4, size - 3))
            # English has a singular verb after "every man and every woman".
            determiners = [item for item in determiners if item is not lexicon.EVERY]
            inner = replace(context, relatives=False)
            first = self.simple_noun_phrase(self.noun(tags), first_size - 2, 0, inner, determiners)
            rest = size - 1 - first_size
            return syntax.coordinate(
                first, self.noun_phrase(rest, first.tags & tags, context, determiners=determiners)
            )
        extra = size - 2
        behind = [0, *range(2, extra + 1)]
        complement_size = self.rng.choice([size for size in behind if extra - size <= 3])
        return self.simple_noun_phrase(self.noun(tags), extra - complement_size, complement_size, context, determiners)

    def noun(self, tags: frozenset[str]) -> Noun:
        return self.rng.choice(_nouns(tags))

    def simple_noun_phrase(
        self, noun: Noun, front_size: int, complement_size: int, context: _Context, determiners: Sequence[Determiner]
    ) -> Nominal:
        """Determiner, `front_size` words, noun, and a complement of `complement_size` words."""
        slots = self.rng.choice([front for front in FRONTS[front_size] if ADMITTED[noun] >= set(front)])
        if "all" in slots:
            determiners = (lexicon.THE,)
        elif "numeral" in slots:
            determiners = COUNTED_DETERMINERS
        if "stack" in slots or complement_size:
            # « notre jardin de l'hôtel », « son livre de Paul » are clumsy.
            determiners = [item for item in determiners if item not in lexicon.POSSESSIVES]
        plural = "all" in slots or "numeral" in slots or self.chance(0.35)
        determiner = self.rng.choice([item for item in determiners if (item.plural if plural else item.singular)])
        adjectives = [self.rng.choice(_adjectives(slot, noun.tags)) for slot in slots if slot in POSITIONS]
        inner = [item for item in _nouns(frozenset({"inner"})) if item is not noun]
        nominal = syntax.noun_phrase(
            determiner,
            noun,
            plural,
            all_of="all" in slots,
            numeral=self.rng.choice(lexicon.NUMERALS) if "numeral" in slots else None,
            intensified="very" in slots,
            adjectives=adjectives,
            stack=self.rng.sample(inner, slots.count("stack")),
        )
        if complement_size == 0:
            return nominal
        complement = self.complement(noun, nominal, complement_size, context)
        return replace(nominal, phrase=nominal.phrase + complement)

    def complement(self, noun: Noun, nominal: Nominal, size: int, context: _Context) -> Phrase:
        if context.relatives and (self.chance(0.5) or size == 2):
            try:
                return self.relative(noun, nominal, size)
            except DeadEndError:
                pass
        prepositions = [item for item in lexicon.NOUN_PREPOSITIONS if item.heads & noun.tags]
        if size == 2:
            prepositions = [item for item in prepositions if "person" in item.objects]
        if not prepositions:
            raise DeadEndError
        return self.prepositional(self.rng.choice(prepositions), size, context)

    def relative(self, noun: Noun, head: Nominal, size: int) -> Phrase:
        """A relative clause of its own tense; it holds no other, nor pronouns that need an antecedent."""
        context = _Context(self.rng.choice(("present", "past")), relatives=False, joint=False, anaphora=False)
        if size < 3 or self.chance(0.5):
            return syntax.subject_relative(noun, self.predicate(size - 1, head, context).phrase)
        subject_size = self.rng.randint(1, min(3, size - 2))
        subject = self.subject(subject_size, context, syntax.PERSON)
        room = size - 2 - subject_size
        verbs = (*lexicon.TRANSITIVE, *lexicon.GIVING) if room >= 2 else lexicon.TRANSITIVE
        verb = self.verb([verb for verb in verbs if verb.objects & head.tags], subject.tags, context.tense)
        gives = verb in lexicon.GIVING
        manner, added = self.manner(room - 2 * gives, _LEXICAL_MANNERS[context.tense])
        rest = self.recipient(room - added, subject, context) if gives else self.adjuncts(room - added, context)
        group = syntax.predicate(subject, verb, manner, [rest], preceding_object=head)
        return syntax.object_relative(subject, group)


def _words(phrase: Phrase) -> int:
    return sum(word.text != "," for word in phrase.english)


def _third_plural(nominal: Nominal | None) -> bool:
    return nominal is not None and nominal.person == lexicon.THIRD_PLURAL


def _other_persons(subject: Nominal, words: Sequence[str]) -> list[str]:
    """Without the first person when the subject is the first person: "I see me" would be reflexive."""
    if subject.person in (lexicon.FIRST_SINGULAR, lexicon.FIRST_PLURAL):
        return [word for word in words if word not in ("me", "us")]
    return list(words)
