"""The embedded grammar: hand-written pairs with their alignments, and an independent check of drawn sentences.

The checks of agreement and elision below read the text of sentences and the lexicon's tables, never the constructions.
"""

import os
import random
import re
import subprocess
import sys
from itertools import pairwise

import pytest
from sacremoses import MosesTokenizer

from rnnsearch.data import composer, grammar, lexicon, syntax
from rnnsearch.data.syntax import Manner, be, finish, noun_phrase, object_pronoun, pair, passive, predicate
from rnnsearch.errors import InputError

NOUN = {noun.english: noun for noun in lexicon.NOUNS}
ADJECTIVE = {adjective.english: adjective for adjective in lexicon.ADJECTIVES}
VERB = {verb.base: verb for verb in lexicon.VERBS}
PREPOSITION = {item.english: item for item in lexicon.NOUN_PREPOSITIONS}
PRONOUN = lexicon.PRONOUNS
THE, A = lexicon.THE, lexicon.A

HE, SHE, WE, THEY, SPEAKER = (syntax.subject_pronoun(PRONOUN[word]) for word in ("him", "her", "us", "them", "me"))
PAST = Manner("past")
NOT = Manner(polarity="not")


def the(noun, plural=False, determiner=THE, **parts):
    return noun_phrase(determiner, NOUN[noun], plural, **parts)


def adjectives(*words):
    return tuple(ADJECTIVE[word] for word in words)


def clause(subject, verb, *complements, manner=Manner()):  # noqa: B008 (frozen)
    return subject.phrase + predicate(subject, VERB[verb], manner, complements)


def they_give_it_to_us():
    return clause(THEY, "give", object_pronoun(PRONOUN["it"]), syntax.recipient_pronoun(PRONOUN["us"]))


def old_man_sees_house():
    return clause(the("man", adjectives=adjectives("old")), "see", the("house", adjectives=adjectives("white")))


def does_not_see_any():
    return clause(HE, "see", the("house", True, determiner=lexicon.ANY), manner=NOT)


def european_economic_area():
    area = the("area", determiner=A, adjectives=adjectives("European", "economic"))
    return clause(WE, "protect", area)


def city_council_meeting():
    meeting = the("meeting", stack=(NOUN["city"], NOUN["council"]))
    return meeting.phrase + be(meeting, PAST, [syntax.adjective_phrase(meeting, ADJECTIVE["important"], "very")])


def relative_with_agreement():
    house = the("house", True)
    relative = syntax.object_relative(HE, predicate(HE, VERB["buy"], PAST, (), preceding_object=house))
    house = the("house", True, complement=relative)
    return house.phrase + be(house, Manner(), [syntax.adjective_phrase(house, ADJECTIVE["beautiful"])])


def contractions():
    council = the("council")
    report = the("report", complement=syntax.prepositional(PREPOSITION["about"], council))
    to_doctors = syntax.prepositional(lexicon.TO, the("doctor", True))
    return clause(SHE, "show", report, to_doctors, manner=Manner(frequency="often"))


def anaphora_in_because():
    door = the("door", determiner=A)
    woman = the("woman")
    second = clause(SHE, "see", object_pronoun(PRONOUN["it"], antecedent=door), manner=NOT)
    return clause(woman, "open", door) + pair("because", "parce que") + second


def women_arrived_and_they():
    women = the("woman", True)
    they = syntax.subject_pronoun(PRONOUN["them"], antecedent=women)
    happy = be(they, PAST, [syntax.adjective_phrase(they, ADJECTIVE["happy"])])
    return clause(women, "arrive", manner=PAST) + pair(",", ",") + pair("but", "mais") + they.phrase + happy


def passive_with_agent():
    letter = the("letter", determiner=lexicon.POSSESSIVES[0])
    agent = syntax.prepositional(lexicon.BY, syntax.name("Anna"))
    return letter.phrase + passive(letter, VERB["write"], PAST, [agent])


def cannot_and_wants():
    man = the("child")
    first = predicate(man, VERB["hear"], Manner(modal="can", polarity="not"), [object_pronoun(PRONOUN["them"])])
    return man.phrase + first + pair("and", "et") + predicate(man, VERB["leave"], Manner(modal="want"))


def possessive_before_vowel():
    idea = the("idea", determiner=lexicon.POSSESSIVES[1])
    return clause(SPEAKER, "love", idea, manner=Manner(polarity="never"))


def some_before_adjective():
    eggs = the("egg", True, determiner=lexicon.SOME, adjectives=adjectives("good"))
    mixed = syntax.coordinate(the("girl"), the("boy", determiner=lexicon.THIS))
    return clause(mixed, "eat", eggs)


def that_clause():
    said = clause(SHE, "find", object_pronoun(PRONOUN["her"]), manner=Manner("past", polarity="not"))
    return clause(syntax.name("Louis"), "say") + pair("that", "que") + said


HAND_WRITTEN = [
    (they_give_it_to_us, "They give it to us.", "Ils nous le donnent.", "0-0 1-3 2-2 4-1 5-4"),
    (
        old_man_sees_house,
        "The old man sees the white house.",
        "Le vieil homme voit la maison blanche.",
        "0-0 1-1 2-2 3-3 4-4 5-6 6-5 7-7",
    ),
    (
        does_not_see_any,
        "He does not see any houses.",
        "Il ne voit pas de maisons.",
        "0-0 2-1 2-3 3-2 4-4 5-5 6-6",
    ),
    (
        european_economic_area,
        "We protect a European economic area.",
        "Nous protégeons un espace économique européen.",
        "0-0 1-1 2-2 3-5 4-4 5-3 6-6",
    ),
    (
        city_council_meeting,
        "The city council meeting was very important.",
        "La réunion du conseil de la ville était très importante.",
        "0-0 1-6 2-3 3-1 4-7 5-8 6-9 7-10",
    ),
    (
        relative_with_agreement,
        "The houses that he bought are beautiful.",
        "Les maisons qu'il a achetées sont belles.",
        "0-0 1-1 2-2 3-3 4-4 4-5 5-6 6-7 7-8",
    ),
    (
        contractions,
        "She often shows the report about the council to the doctors.",
        "Elle montre souvent le rapport sur le conseil aux médecins.",
        "0-0 1-2 2-1 3-3 4-4 5-5 6-6 7-7 8-8 9-8 10-9 11-10",
    ),
    (
        anaphora_in_because,
        "The woman opens a door because she does not see it.",
        "La femme ouvre une porte parce qu'elle ne la voit pas.",
        "0-0 1-1 2-2 3-3 4-4 5-5 5-6 6-7 8-8 8-11 9-10 10-9 11-12",
    ),
    (
        women_arrived_and_they,
        "The women arrived, but they were happy.",
        "Les femmes sont arrivées, mais elles étaient heureuses.",
        "0-0 1-1 2-2 2-3 3-4 4-5 5-6 6-7 7-8 8-9",
    ),
    (
        passive_with_agent,
        "My letter was written by Anna.",
        "Ma lettre a été écrite par Anna.",
        "0-0 1-1 2-2 2-3 3-4 4-5 5-6 6-7",
    ),
    (
        cannot_and_wants,
        "The child cannot hear them and wants to leave.",
        "L'enfant ne peut pas les entendre et veut partir.",
        "0-0 1-1 2-2 2-3 2-4 3-6 4-5 5-7 6-8 8-9 9-10",
    ),
    (possessive_before_vowel, "I never love his idea.", "Je n'aime jamais son idée.", "0-0 1-1 1-3 2-2 3-4 4-5 5-6"),
    (
        some_before_adjective,
        "The girl and this boy eat some good eggs.",
        "La fille et ce garçon mangent de bons œufs.",
        "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7 8-8 9-9",
    ),
    (
        that_clause,
        "Louis says that she did not find her.",
        "Louis dit qu'elle ne l'a pas trouvée.",
        "0-0 1-1 2-2 3-3 4-6 5-4 5-7 6-8 7-5 8-9",
    ),
]


@pytest.mark.parametrize(("build", "english", "french", "links"), HAND_WRITTEN)
def test_hand_written_pairs(build, english, french, links):
    drawn = finish(build())
    assert drawn.source == english
    assert drawn.target == french
    assert drawn.alignment == {tuple(map(int, link.split("-"))) for link in links.split()}


@pytest.mark.parametrize(
    ("words", "plural", "french"),
    [
        (("beautiful", "tree"), False, "le bel arbre"),
        (("beautiful", "tree"), True, "les beaux arbres"),
        (("new", "hospital"), False, "le nouvel hôpital"),
        (("old", "uncle"), False, "le vieil oncle"),
        (("old", "uncle"), True, "les vieux oncles"),
        (("old", "school"), False, "la vieille école"),
        (("very", "old", "uncle"), False, "le très vieil oncle"),
        (("national", "newspaper"), True, "les journaux nationaux"),
        (("big", "white", "horse"), True, "les grands chevaux blancs"),
        (("important", "French", "economic", "law"), True, "les lois économiques françaises importantes"),
    ],
)
def test_adjectives_in_noun_phrases(words, plural, french):
    *before, noun = words
    phrase = the(
        noun, plural, adjectives=adjectives(*(word for word in before if word != "very")), intensified="very" in before
    )
    assert " ".join(word.text for word in phrase.phrase.french) == french


def test_demonstrative_and_indefinite_before_vowels():
    assert finish(the("artist", determiner=lexicon.THIS).phrase).target == "Cet artiste."
    assert (
        finish(the("hotel", determiner=lexicon.THIS, adjectives=adjectives("big")).phrase).target == "Ce grand hôtel."
    )
    assert finish(the("union", determiner=A).phrase).source == "A union."
    assert finish(the("man", determiner=A, adjectives=adjectives("honest")).phrase).source == ("An honest man.")


# Drawn sentences


@pytest.fixture(scope="module")
def drawn():
    return grammar.corpus(1500, (3, 40), seed=1)


VOWELS = "aàâeéèêiîoôuûœh"
ELIDED = {"l'", "d'", "n'", "j'", "m'", "qu'", "s'"}
FORMS = {}
for _noun in lexicon.NOUNS:
    FORMS.setdefault(_noun.french, set()).add((_noun.gender, False))
    FORMS.setdefault(_noun.french_plural, set()).add((_noun.gender, True))
ADJECTIVE_FORMS = {}
for _adjective in lexicon.ADJECTIVES:
    for _index, _form in enumerate(_adjective.french):
        ADJECTIVE_FORMS.setdefault(_form, set()).add(("mf"[_index % 2], _index > 1))
    ADJECTIVE_FORMS.setdefault(_adjective.before_vowel, set()).add(("m", False))
MASCULINE, FEMININE, PLURAL = ({("m", False)}, {("f", False)}, {("m", True), ("f", True)})
DETERMINER_FORMS = {
    **dict.fromkeys(("le", "un", "ce", "cet", "du", "au"), MASCULINE),
    **dict.fromkeys(("la", "une", "cette", "ma", "sa"), FEMININE),
    **dict.fromkeys(("les", "des", "ces", "mes", "ses", "nos", "leurs", "aux", "plusieurs"), PLURAL),
    **dict.fromkeys(("deux", "trois", "quatre", "cinq", "dix"), PLURAL),
    **dict.fromkeys(("l'", "chaque", "mon", "son", "notre"), MASCULINE | FEMININE),
    "tous": {("m", True)},
    "toutes": {("f", True)},
}
PLURAL_OPENINGS = {word for word, agreement in DETERMINER_FORMS.items() if agreement == PLURAL}
PRENOMINAL = {form for item in lexicon.ADJECTIVES if item.position == "before" for form in item.french}
PRENOMINAL |= {item.before_vowel for item in lexicon.ADJECTIVES}
POSTNOMINAL = {form for item in lexicon.ADJECTIVES if item.position != "before" for form in item.french}


def lowered(words):
    first = words[0]
    return [first if first in lexicon.NAMES or first == "I" else first[0].lower() + first[1:], *words[1:]]


def spelling_faults(french):
    """Faults of elision, contraction and forms before vowels, from the French words alone."""
    faults = []
    for word, following in pairwise(french):
        vowel = following[0].lower() in VOWELS
        if word in ELIDED and not vowel:
            faults.append(f"{word} {following}")
        if word in ("le", "la", "de", "ne", "je", "me", "que", "ma", "sa", "ce", "bel") and vowel == (word != "bel"):
            faults.append(f"{word} {following}")
        if word in ("de", "à") and following in ("le", "les"):
            faults.append(f"{word} {following}")
        if word == "si" and following in ("il", "ils"):
            faults.append(f"{word} {following}")
        if word in ("beau", "nouveau") and vowel and following in FORMS:
            faults.append(f"{word} {following}")
        if word in ("cet", "bel", "nouvel", "vieil") and not vowel:
            faults.append(f"{word} {following}")
        if word == "vieux" and vowel and (("m", False) in FORMS.get(following, ())):
            faults.append(f"{word} {following}")
    return faults


def noun_positions(item):
    """Indices of French nouns, found through the English ones (`porte` is a door, but also "carries")."""
    nouns = {form for noun in lexicon.NOUNS for form in (noun.english, noun.english_plural)}
    return sorted(target for source, target in item.alignment if lowered(item.source_words)[source] in nouns)


def agreement_faults(french, positions):
    """Nouns whose determiner, or adjectives on either side, disagree in gender or number."""
    faults = []
    for position in positions:
        word = french[position]
        start = position
        while start and (french[start - 1] in PRENOMINAL or french[start - 1] == "très"):
            start -= 1
        end = position + 1
        while end < len(french) and (french[end] in POSTNOMINAL or french[end] == "très"):
            end += 1
        openings = french[max(start - 1, 0) : start]
        if openings and openings[0] in ("deux", "trois", "quatre", "cinq", "dix", "les"):
            openings = french[max(start - 2, 0) : start]
        possible = set(FORMS[word])
        for neighbour in [*openings, *french[start:end]]:
            possible &= DETERMINER_FORMS.get(neighbour, possible)
            possible &= ADJECTIVE_FORMS.get(neighbour, possible)
        if not possible:
            faults.append(" ".join(french[max(start - 2, 0) : end]))
    return faults


def test_drawn_sentences_are_spelled_right(drawn):
    assert [(fault, item.target) for item in drawn for fault in spelling_faults(lowered(item.target_words))] == []


def test_drawn_noun_phrases_agree(drawn):
    faults = [fault for item in drawn for fault in agreement_faults(lowered(item.target_words), noun_positions(item))]
    assert faults == []


def test_predicates_agree_with_a_simple_subject(drawn):
    """Sentences that open with determiner, noun and a form of être, whatever stands before the adjective."""
    between = {"ne", "n'", "pas", "jamais", "souvent", "toujours", "parfois", "très", "trop"}
    checked = 0
    for item in drawn:
        determiner, noun, *rest = lowered(item.target_words)
        if determiner not in DETERMINER_FORMS or 1 not in noun_positions(item):
            continue
        verb, adjective, *_ = [word for word in rest if word not in between]
        if verb in (*lexicon.ETRE, *lexicon.ETAIT) and adjective in ADJECTIVE_FORMS:
            assert FORMS[noun] & DETERMINER_FORMS[determiner] & ADJECTIVE_FORMS[adjective], item.target
            assert (verb in ("sont", "étaient")) == (determiner in PLURAL_OPENINGS), item.target
            checked += 1
    assert checked > 12


@pytest.mark.parametrize(
    "sentence",
    [
        "le homme",
        "que il",
        "de le chien",
        "à les oncles",
        "le vieux oncle",
        "bel jardin",
        "la idée",
        "si ils",
        "ce oncle",
    ],
)
def test_the_spelling_check_finds_planted_faults(sentence):
    assert spelling_faults(sentence.split())


@pytest.mark.parametrize(
    "sentence",
    ["la homme", "les maison", "un grande jardin", "la maison blanc", "tous les femmes", "cette vieil oncle"],
)
def test_the_agreement_check_finds_planted_faults(sentence):
    words = sentence.split()
    assert agreement_faults(words, [position for position, word in enumerate(words) if word in FORMS])


def test_english_articles_and_verbs(drawn):
    verbs = {form: verb for verb in lexicon.VERBS for form in (verb.base, verb.third)}
    for item in drawn:
        english = lowered(item.source_words)
        for word, following in pairwise(english):
            if word in ("a", "an"):
                sounds_vowel = following[0].lower() in "aeiou" and not re.match("Europ|uni|use", following)
                assert (word == "an") == (sounds_vowel or following == "honest"), item.source
            if word in ("he", "she"):
                assert following not in ("am", "are", "were", "do"), item.source
                assert following not in verbs or following == verbs[following].third, item.source
            if word in ("I", "we", "they", "can", "must", "to", "not", "cannot"):
                assert following not in verbs or following == verbs[following].base, item.source


def test_subject_pronouns_agree_with_french_verbs(drawn):
    persons = {"je": 0, "j'": 0, "il": 1, "elle": 1, "ils": 3, "elles": 3}
    tables = [verb.present for verb in lexicon.VERBS]
    tables += [lexicon.AVOIR, lexicon.ETRE, lexicon.ETAIT, *lexicon.MODALS.values()]
    skipped = {"ne", "n'", "le", "la", "l'", "les", "lui", "leur", "me", "m'", "nous"}
    for item in drawn:
        french = lowered(item.target_words)
        for position, word in enumerate(french):
            if word in persons:
                verb = next(other for other in french[position + 1 :] if other not in skipped)
                assert any(table[persons[word]] == verb for table in tables), item.target


def test_text_is_its_words_joined(drawn):
    for item in drawn:
        for text, words in ((item.source, item.source_words), (item.target, item.target_words)):
            assert text[0].isupper()
            assert text.endswith(".")
            assert text.count(".") == 1
            assert re.findall(r"[^\s,.']+'?|[,.]", text) == list(words)
            assert re.sub(r"(?<=') | (?=[,.])", "", " ".join(words)) == text


def test_words_are_those_of_the_moses_tokenizer(drawn):
    english, french = MosesTokenizer(lang="en"), MosesTokenizer(lang="fr")
    for item in drawn[:400]:
        assert tuple(english.tokenize(item.source, escape=False)) == item.source_words
        assert tuple(french.tokenize(item.target, escape=False)) == item.target_words


def test_alignment_links_every_content_word(drawn):
    free_english = {"do", "does", "did", "to"}
    free_french = {"de", "d'", "la", "l'", "du"}
    for item in drawn:
        sources = {source for source, _ in item.alignment}
        targets = {target for _, target in item.alignment}
        assert sources <= set(range(len(item.source_words)))
        assert targets <= set(range(len(item.target_words)))
        left = {word for index, word in enumerate(item.source_words) if index not in sources}
        assert left <= free_english, item.source
        right = {word for index, word in enumerate(item.target_words) if index not in targets}
        assert right <= free_french, item.target


def test_alignment_links_words_that_translate_one_another(drawn):
    dictionary = {}
    for noun in lexicon.NOUNS:
        dictionary[noun.english] = {noun.french}
        dictionary[noun.english_plural] = {noun.french_plural}
    for adjective in lexicon.ADJECTIVES:
        dictionary[adjective.english] = {*adjective.french, adjective.before_vowel}
    for item in drawn:
        for source, target in item.alignment:
            word = lowered(item.source_words)[source]
            if word in dictionary:
                assert lowered(item.target_words)[target] in dictionary[word], item.source


@pytest.mark.parametrize("length", range(grammar.SHORTEST, grammar.LONGEST + 1))
def test_every_length_is_honoured(length):
    rng = random.Random(length)
    for _ in range(3):
        words = grammar.sample((length, length), rng).source_words
        assert sum(word not in (",", ".") for word in words) == length


def test_lengths_are_spread_evenly():
    rng = random.Random(0)
    lengths = [len(re.findall(r"\w+", grammar.sample((3, 12), rng).source)) for _ in range(1000)]
    counts = [lengths.count(length) for length in range(3, 13)]
    assert sum(counts) == 1000
    assert min(counts) > 65
    assert max(counts) < 140


def test_an_english_sentence_has_one_translation():
    rng = random.Random(5)
    seen = {}
    repeated = 0
    for _ in range(4000):
        item = grammar.sample((3, 6), rng)
        repeated += item.source in seen
        assert seen.setdefault(item.source, item.target) == item.target
    assert repeated > 30


def test_corpus_holds_different_sentences_none_excluded():
    first = grammar.corpus(300, (3, 5), seed=2)
    excluded = [item.source for item in first]
    second = grammar.corpus(300, (3, 5), seed=2, exclude=excluded)
    assert len(set(excluded)) == 300
    assert len({item.source for item in second}) == 300
    assert not {item.source for item in second} & set(excluded)


def test_corpus_depends_on_the_seed_alone():
    program = "from rnnsearch.data import grammar; print(hash(()), grammar.corpus(40, (3, 30), seed=9)[-1].target)"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert outputs == {f"{hash(())} {grammar.corpus(40, (3, 30), seed=9)[-1].target}\n"}
    assert grammar.corpus(5, (3, 30), seed=9) != grammar.corpus(5, (3, 30), seed=10)


def test_vocabulary_covers_the_sentences(drawn):
    english, french = grammar.vocabulary()
    assert {word for item in drawn for word in lowered(item.source_words)} <= english
    assert {word for item in drawn for word in lowered(item.target_words)} <= french
    assert all(re.fullmatch(r"[\w'-]+|[,.]", word) and word != "-" for word in english | french)


def test_lexicon_entries_are_distinct():
    english = [form for noun in lexicon.NOUNS for form in (noun.english, noun.english_plural)]
    english += [adjective.english for adjective in lexicon.ADJECTIVES]
    english += [form for verb in lexicon.VERBS for form in {verb.base, verb.third, verb.past} - {""}]
    assert len(english) == len(set(english))


@pytest.mark.parametrize("length_range", [(2, 5), (3, 61), (9, 8)])
def test_lengths_out_of_bounds_are_refused(length_range):
    with pytest.raises(InputError, match="from 3 to 60 words"):
        grammar.sample(length_range, random.Random(0))


def test_a_corpus_that_runs_dry_says_so(monkeypatch):
    monkeypatch.setattr(grammar, "sample", lambda *_: finish(clause(HE, "sing")))
    with pytest.raises(InputError, match="found only 1 of 2 different sentences of 3 to 3 words"):
        grammar.corpus(2, (3, 3), seed=0)


def test_no_conjunction_follows_another(drawn):
    conjunctions = {*lexicon.SUBORDINATORS, *lexicon.COORDINATORS}
    for item in drawn:
        words = lowered(item.source_words)
        for word, following in pairwise(words):
            assert not (word in lexicon.SUBORDINATORS and following in conjunctions), item.source


def test_front_slots_fit_the_nouns():
    assert all(composer.ADMITTED[noun] >= {"all", "numeral", "very"} for noun in lexicon.NOUNS)
    assert ("all", "numeral") not in composer.FRONTS[2]
