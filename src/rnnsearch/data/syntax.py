"""Constructions of the embedded English-French grammar: each builds both languages at once, with their word links.

A phrase holds English words, compared by identity, and French words that name the English words they render.
Reordering either side therefore keeps the alignment, and no construction counts positions. Elision, contraction and
`mon amie` wait for the whole sentence (`finish`), because they depend on the word that follows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from . import lexicon
from .lexicon import THIRD_PLURAL, THIRD_SINGULAR, Adjective, Determiner, Noun, Preposition, Pronoun, Verb

PERSON, THING = frozenset({"person"}), frozenset({"thing"})
ELISIONS = {"le": "l'", "la": "l'", "de": "d'", "que": "qu'", "ne": "n'", "je": "j'", "me": "m'"}
CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
FEMININE_BEFORE_VOWEL = {"ma": "mon", "sa": "son"}


@dataclass(frozen=True)
class SentencePair:
    """An English sentence, its French translation and the sure links between their words.

    `source` and `target` are plain text. `source_words` and `target_words` are their tokens as the Moses tokenizer
    cuts them: punctuation stands alone and an elided word keeps its apostrophe (`l'`, `homme`). `alignment` holds
    pairs (source index, target index), counted from 0.
    """

    source: str
    target: str
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    alignment: frozenset[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class English:
    """One English word of one sentence; two words of the same spelling are different objects."""

    text: str


@dataclass(frozen=True)
class French:
    """A French word and the English words it renders (none for a word that French alone demands)."""

    text: str
    renders: tuple[English, ...] = ()


@dataclass(frozen=True)
class Phrase:
    """English and French words of a constituent, each in the order of its language."""

    english: tuple[English, ...] = ()
    french: tuple[French, ...] = ()

    def __add__(self, other: "Phrase") -> "Phrase":
        return Phrase(self.english + other.english, self.french + other.french)


@dataclass(frozen=True)
class Nominal:
    """A phrase that agrees: a noun phrase, a name or a pronoun. `tags` are those of the head noun."""

    phrase: Phrase
    gender: str
    person: int
    tags: frozenset[str]

    @property
    def plural(self) -> bool:
        return self.person > THIRD_SINGULAR


@dataclass(frozen=True)
class ObjectPronoun(Nominal):
    """A pronoun that follows the English verb and precedes the French one, those of lower `rank` first.

    `direct` tells the object ("it", with which a French participle agrees) from the recipient ("to us").
    """

    rank: int
    direct: bool


@dataclass(frozen=True)
class Manner:
    """How a verb is used: tense "present" or "past", `modal` "", "can", "must" or "want", polarity, adverb.

    `polarity` is "plain", "not" or "never"; `frequency` is "" or a word of `lexicon.FREQUENCY`.
    """

    tense: str = "present"
    modal: str = ""
    polarity: str = "plain"
    frequency: str = ""


@dataclass(frozen=True)
class Clause:
    """A clause with the participants that pronouns of the next clause may stand for."""

    phrase: Phrase
    subject: Nominal | None = None
    object: Nominal | None = None


def pair(english: str, french: str) -> Phrase:
    """Words that render one another, all with all; either side may be empty."""
    words = tuple(English(text) for text in english.split())
    return Phrase(words, tuple(French(text, words) for text in french.split()))


def arrange(english: Iterable[Phrase], french: Iterable[Phrase]) -> Phrase:
    """The same phrases in the order of each language."""
    return Phrase(
        tuple(word for phrase in english for word in phrase.english),
        tuple(word for phrase in french for word in phrase.french),
    )


def inflect(adjective: Adjective, gender: str, plural: bool) -> str:
    return adjective.french[2 * plural + (gender == "f")]


def agree(participle: str, nominal: Nominal) -> str:
    """A French past participle (all those of the lexicon are regular) in the gender and number of `nominal`."""
    return participle + "e" * (nominal.gender == "f") + "s" * nominal.plural


# Noun phrases


def name(text: str) -> Nominal:
    return Nominal(pair(text, text), lexicon.NAMES[text], THIRD_SINGULAR, PERSON)


def subject_pronoun(pronoun: Pronoun, antecedent: Nominal | None = None) -> Nominal:
    """ "they" takes the gender of its antecedent; by default it is masculine."""
    gender = antecedent.gender if antecedent else pronoun.gender
    french = "elles" if pronoun.person == THIRD_PLURAL and gender == "f" else pronoun.french_subject
    tags = antecedent.tags if antecedent else PERSON
    return Nominal(pair(pronoun.subject, french), gender, pronoun.person, tags)


def object_pronoun(pronoun: Pronoun, antecedent: Nominal | None = None) -> ObjectPronoun:
    """ "it" and "them" take gender and tags of their antecedent; by default they are masculine."""
    gender = antecedent.gender if antecedent else pronoun.gender
    tags = (
        antecedent.tags if antecedent else PERSON if pronoun.rank == 1 or pronoun.subject in ("he", "she") else THING
    )
    french = "la" if pronoun.object == "it" and gender == "f" else pronoun.french_object
    phrase = pair(pronoun.object, french)
    return ObjectPronoun(phrase, gender, pronoun.person, tags, pronoun.rank, direct=True)


def recipient_pronoun(pronoun: Pronoun) -> ObjectPronoun:
    """`to us`, in French `nous`; no French word renders `to`."""
    phrase = pair("to", "") + pair(pronoun.object, pronoun.dative)
    rank = 1 if pronoun.rank == 1 else 3
    return ObjectPronoun(phrase, pronoun.gender, pronoun.person, PERSON, rank, direct=False)


def noun_phrase(
    determiner: Determiner,
    noun: Noun,
    plural: bool = False,
    *,
    all_of: bool = False,
    numeral: Determiner | None = None,
    intensified: bool = False,
    adjectives: Sequence[Adjective] = (),
    stack: Sequence[Noun] = (),
    complement: Phrase | None = None,
) -> Nominal:
    """`all the five very old city council buildings of Paul`; any part but determiner and noun may be left out.

    Args:
        determiner: of the whole phrase.
        noun: the head.
        plural: number of the head.
        all_of: put `all` before the determiner (of a plural).
        numeral: a number after the determiner (of a plural).
        intensified: put `very` before the first adjective.
        adjectives: in English order: at most one that precedes the French noun, first; then those that follow it.
        stack: nouns before the English head; in French each takes `de` and the article, in reverse order.
        complement: a prepositional phrase or a relative clause.
    """
    head = pair(noun.english_plural if plural else noun.english, noun.french_plural if plural else noun.french)
    before_vowel = not plural and noun.gender == "m" and lexicon.starts_with_vowel(noun.french)
    described = []
    for adjective in adjectives:
        special = before_vowel and adjective.position == "before"
        french = adjective.before_vowel if special else inflect(adjective, noun.gender, plural)
        described.append(pair(adjective.english, french))
    if intensified:
        described[0] = pair("very", "très") + described[0]
    inverted = [item for item, kind in zip(described, adjectives, strict=True) if kind.position == "before"]
    following = [item for item, kind in zip(described, adjectives, strict=True) if kind.position != "before"]
    stacked = [pair(modifier.english, modifier.french) for modifier in stack]
    count = pair(numeral.plural, numeral.french_plural) if numeral else Phrase()
    core = arrange(
        [count, *described, *stacked, head],
        [count, *inverted, head, *reversed(following), *_of_each(stack, stacked)],
    )
    opening = _determiner(determiner, noun.gender, plural, core, opens_with_adjective=bool(inverted))
    if all_of:
        opening = pair("all", lexicon.ALL[noun.gender]) + opening
    person = THIRD_PLURAL if plural else THIRD_SINGULAR
    return Nominal(opening + core + (complement or Phrase()), noun.gender, person, noun.tags)


def _of_each(stack: Sequence[Noun], stacked: Sequence[Phrase]) -> Iterable[Phrase]:
    for noun, phrase in zip(reversed(stack), reversed(stacked), strict=True):
        yield pair("", "de la" if noun.gender == "f" else "de le")
        yield phrase


def _determiner(
    determiner: Determiner, gender: str, plural: bool, core: Phrase, *, opens_with_adjective: bool
) -> Phrase:
    english = determiner.plural if plural else determiner.singular
    french = determiner.french_plural if plural else determiner.feminine if gender == "f" else determiner.masculine
    if english == "a":
        english = lexicon.indefinite_article(core.english[0].text)
    if french == "des" and opens_with_adjective:
        french = "de"
    if french == "ce" and lexicon.starts_with_vowel(core.french[0].text):
        french = "cet"
    return pair(english, french)


def coordinate(first: Nominal, second: Nominal) -> Nominal:
    """`the man and the woman`: plural, feminine only when both are."""
    gender = "f" if first.gender == second.gender == "f" else "m"
    phrase = first.phrase + pair("and", "et") + second.phrase
    return Nominal(phrase, gender, THIRD_PLURAL, first.tags & second.tags)


def subject_relative(antecedent: Noun, relative_predicate: Phrase) -> Phrase:
    """`who sings`, or `that` for what is no person; French `qui`."""
    return pair("who" if antecedent.kind == "person" else "that", "qui") + relative_predicate


def object_relative(subject: Nominal, verb_group: Phrase) -> Phrase:
    """`that the man sees`, French `que l'homme voit`; the verb group has no object of its own."""
    return pair("that", "que") + subject.phrase + verb_group


# Predicates


@dataclass(frozen=True)
class _VerbGroup:
    """English auxiliary and main words; French finite verb and what follows it (infinitive or participles)."""

    auxiliary: tuple[English, ...]
    main: tuple[English, ...]
    finite: French
    rest: tuple[French, ...] = ()


def predicate(
    subject: Nominal,
    verb: Verb,
    manner: Manner,
    complements: Sequence[Phrase | Nominal] = (),
    preceding_object: Nominal | None = None,
) -> Phrase:
    """A verb and what follows it.

    Args:
        subject: the verb agrees with it.
        verb: a verb of the lexicon.
        manner: tense, modal verb, negation and adverb.
        complements: in English order; pronouns move before the French verb.
        preceding_object: antecedent of an object relative clause, with which the participle agrees.
    """
    agrees_with = subject if verb.auxiliary == "être" else preceding_object
    for complement in complements:
        if isinstance(complement, ObjectPronoun) and complement.direct:
            agrees_with = complement
    if manner.modal in lexicon.MODALS:
        group = _modal_group(subject, verb, manner)
    else:
        group = _lexical_group(subject, verb, manner, agrees_with)
    return _assemble(group, manner, complements)


def be(subject: Nominal, manner: Manner, complements: Sequence[Phrase]) -> Phrase:
    """`is` and an adjective or a place."""
    past = manner.tense == "past"
    english = English((lexicon.BE_PAST if past else lexicon.BE_PRESENT)[subject.person])
    finite = French((lexicon.ETAIT if past else lexicon.ETRE)[subject.person], (english,))
    return _assemble(_VerbGroup((english,), (), finite), manner, complements)


def passive(subject: Nominal, verb: Verb, manner: Manner, complements: Sequence[Phrase | Nominal]) -> Phrase:
    """`was seen by the man`, French `a été vue par l'homme`; `complements` are recipient and agent."""
    past = manner.tense == "past"
    english = English((lexicon.BE_PAST if past else lexicon.BE_PRESENT)[subject.person])
    finite = French((lexicon.AVOIR if past else lexicon.ETRE)[subject.person], (english,))
    participle = pair(verb.participle, agree(verb.french_participle, subject))
    been = (French("été", (english,)),) if past else ()
    group = _VerbGroup((english,), participle.english, finite, (*been, *participle.french))
    return _assemble(group, manner, complements)


def adjective_phrase(subject: Nominal, adjective: Adjective, intensifier: str = "") -> Phrase:
    """`very old` after `be`, in agreement with the subject."""
    phrase = pair(adjective.english, inflect(adjective, subject.gender, subject.plural))
    return pair(intensifier, lexicon.INTENSIFIERS[intensifier]) + phrase if intensifier else phrase


def _modal_group(subject: Nominal, verb: Verb, manner: Manner) -> _VerbGroup:
    cannot = manner.modal == "can" and manner.polarity == "not"
    auxiliary = (English("cannot" if cannot else manner.modal),)
    main = (English(verb.base),)
    finite = French(lexicon.MODALS[manner.modal][subject.person], auxiliary)
    return _VerbGroup(auxiliary, main, finite, (French(verb.infinitive, main),))


def _lexical_group(subject: Nominal, verb: Verb, manner: Manner, agrees_with: Nominal | None) -> _VerbGroup:
    head = lexicon.WANT if manner.modal == "want" else verb
    past, third = manner.tense == "past", subject.person == THIRD_SINGULAR
    auxiliary: tuple[English, ...] = ()
    if manner.polarity == "not":
        auxiliary = (English("did" if past else "does" if third else "do"),)
        main = (English(head.base),)
    else:
        main = (English(head.past if past else head.third if third else head.base),)
    if past:
        forms = lexicon.ETRE if head.auxiliary == "être" else lexicon.AVOIR
        participle = agree(head.french_participle, agrees_with) if agrees_with else head.french_participle
        return _VerbGroup(
            auxiliary, main, French(forms[subject.person], auxiliary or main), (French(participle, main),)
        )
    finite = French(head.present[subject.person], main)
    if manner.modal != "want":
        return _VerbGroup(auxiliary, main, finite)
    infinitive = pair(verb.base, verb.infinitive)
    return _VerbGroup(auxiliary, (*main, English("to"), *infinitive.english), finite, infinitive.french)


def _assemble(group: _VerbGroup, manner: Manner, complements: Sequence[Phrase | Nominal]) -> Phrase:
    pronouns = sorted((item for item in complements if isinstance(item, ObjectPronoun)), key=lambda item: item.rank)
    clitics = [word for pronoun in pronouns for word in pronoun.phrase.french]
    adverb = pair(manner.frequency, lexicon.FREQUENCY[manner.frequency]) if manner.frequency else Phrase()
    english, french = [*group.auxiliary], [group.finite]
    if not manner.modal:
        french = [*clitics, *french]
    if manner.polarity != "plain":
        if [word.text for word in english] != ["cannot"]:
            english.append(English(manner.polarity))
        negator = english[-1:]
        second = "jamais" if manner.polarity == "never" else "pas"
        french = [French("ne", tuple(negator)), *french, French(second, tuple(negator))]
    english += [*adverb.english, *group.main]
    french += adverb.french
    if manner.modal:
        french += clitics
    french += group.rest
    for complement in complements:
        phrase = complement if isinstance(complement, Phrase) else complement.phrase
        english += phrase.english
        if not isinstance(complement, ObjectPronoun):
            french += phrase.french
    return Phrase(tuple(english), tuple(french))


# Sentences


def prepositional(preposition: Preposition, nominal: Nominal) -> Phrase:
    return pair(preposition.english, preposition.french) + nominal.phrase


def join(words: Sequence[str]) -> str:
    """Plain text of tokens: no space before a comma or full stop, nor after an apostrophe.

    >>> join(["L'", "homme", "dort", "."])
    "L'homme dort."
    """
    text = " ".join(words).replace("' ", "'")
    return text.replace(" ,", ",").replace(" .", ".")


def finish(phrase: Phrase) -> SentencePair:
    """The sentence of a phrase: full stop, capitals, French elision and contraction, alignment by index."""
    phrase += pair(".", ".")
    french = _spell(phrase.french)
    index = {word: position for position, word in enumerate(phrase.english)}
    source_words = _capitalize([word.text for word in phrase.english])
    target_words = _capitalize([word.text for word in french])
    alignment = frozenset((index[word], position) for position, item in enumerate(french) for word in item.renders)
    return SentencePair(join(source_words), join(target_words), source_words, target_words, alignment)


def _capitalize(words: Sequence[str]) -> tuple[str, ...]:
    return (words[0][0].upper() + words[0][1:], *words[1:])


def _spell(words: Sequence[French]) -> list[French]:
    """From the last word to the first, since a word changes by the one that follows it."""
    spelled: list[French] = []
    for word in reversed(words):
        text, renders = word.text, word.renders
        following = spelled[-1].text if spelled else ""
        if following and lexicon.starts_with_vowel(following):
            text = ELISIONS.get(text) or FEMININE_BEFORE_VOWEL.get(text, text)
        if text == "si" and following in ("il", "ils"):
            text = "s'"
        if (text, following) in CONTRACTIONS:
            text = CONTRACTIONS[text, following]
            renders += spelled.pop().renders
        spelled.append(French(text, renders))
    return spelled[::-1]
