"""Words of the embedded English-French grammar: what they mean together, how they inflect, with whom they may stand.

Each table is plain text, one word a line; blank-separated columns are explained above it. The last columns are tags
that keep sentences sensible (one paints a house, one invites a person). Every English form belongs to one entry and
every entry has one French counterpart, so that an English sentence of the grammar has one translation.

Every French `h` of the lexicon is mute: `starts_with_vowel` needs no list of exceptions.
"""

from dataclasses import dataclass

FIRST_SINGULAR, THIRD_SINGULAR, FIRST_PLURAL, THIRD_PLURAL = range(4)
"""Indices of the four persons of the grammar in a French paradigm (there is no `you`: it would be `tu` or `vous`)."""


@dataclass(frozen=True)
class Noun:
    """A noun with its plural in both languages and its French gender, "m" or "f".

    `kind` is its class: person, animal, thing, place, text, body (an institution) or area; `tags` hold it and more.
    """

    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: str
    kind: str
    tags: frozenset[str]


@dataclass(frozen=True)
class Adjective:
    """An adjective; `french` holds masculine, feminine, masculine plural, feminine plural.

    `before_vowel` is the masculine singular used before a vowel (`bel`, `nouvel`, `vieil`). `position` is the place
    among English adjectives, in this order: "before" (which also precedes the French noun), then those that follow
    the French noun, in reverse: "quality", "origin", "kind" (`European economic area`, `espace économique européen`).
    """

    english: str
    french: tuple[str, str, str, str]
    before_vowel: str
    position: str
    tags: frozenset[str]


@dataclass(frozen=True)
class Verb:
    """A verb: English base, third person, past and participle; French present of four persons, infinitive, participle.

    `auxiliary` is "avoir" or "être"; a verb of state has `past=""`, since its French past would not be the compound
    one. `objects` is empty for an intransitive verb.
    """

    base: str
    third: str
    past: str
    participle: str
    present: tuple[str, ...]
    infinitive: str
    french_participle: str
    auxiliary: str
    subjects: frozenset[str]
    objects: frozenset[str]


@dataclass(frozen=True)
class Determiner:
    """A determiner; `singular` and `plural` are English, "" where it has no such number."""

    singular: str
    plural: str
    masculine: str
    feminine: str
    french_plural: str


@dataclass(frozen=True)
class Preposition:
    """A preposition with the tags of the nouns it may follow (`heads`) and govern (`objects`)."""

    english: str
    french: str
    heads: frozenset[str]
    objects: frozenset[str]


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun: subject and object forms of both languages, and its agreement.

    `rank` orders French object pronouns before the verb: `me, nous` (1), `le, la, les` (2), `lui, leur` (3, `dative`).
    """

    subject: str
    object: str
    french_subject: str
    french_object: str
    dative: str
    gender: str
    person: int
    rank: int


def starts_with_vowel(word: str) -> bool:
    """Whether a French word makes the word before it elide.

    >>> starts_with_vowel("homme"), starts_with_vowel("maison")
    (True, False)
    """
    return word[0].lower() in "aàâeéèêiîoôuûhœ"


def indefinite_article(following: str) -> str:
    """English `a` or `an`, by the sound of the word that follows.

    >>> indefinite_article("old"), indefinite_article("university"), indefinite_article("honest")
    ('an', 'a', 'an')
    """
    vowel = following[0].lower() in "aeiou"
    exception = following in ("European", "university", "useful", "union", "honest")
    return "an" if vowel != exception else "a"


def _rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


def _tags(words: str) -> frozenset[str]:
    return frozenset(words.split(","))


# English, plural, French, plural, gender, tags. The first tag is the class; "stack" may head a noun stack and "inner"
# may stand inside one (`the school director`); "kin" takes "of" and a person.
NOUNS = tuple(
    Noun(english, plural, french, french_plural, gender, tags.split(",")[0], _tags(tags))
    for english, plural, french, french_plural, gender, tags in _rows("""
man men homme hommes m person
woman women femme femmes f person
child children enfant enfants m person
boy boys garçon garçons m person
girl girls fille filles f person
expert experts expert experts m person
brother brothers frère frères m person,kin
sister sisters sœur sœurs f person,kin
mother mothers mère mères f person,kin
father fathers père pères m person,kin
aunt aunts tante tantes f person,kin
uncle uncles oncle oncles m person,kin
neighbour neighbours voisin voisins m person,kin
doctor doctors médecin médecins m person,kin,stack
nurse nurses infirmière infirmières f person
teacher teachers professeur professeurs m person,kin,stack
student students étudiant étudiants m person
lawyer lawyers avocat avocats m person,kin
minister ministers ministre ministres m person
director directors directeur directeurs m person,stack
president presidents président présidents m person,stack
artist artists artiste artistes m person
actress actresses actrice actrices f person
queen queens reine reines f person
princess princesses princesse princesses f person
worker workers ouvrier ouvriers m person,stack
dog dogs chien chiens m animal
cat cats chat chats m animal
horse horses cheval chevaux m animal
bird birds oiseau oiseaux m animal
cow cows vache vaches f animal
house houses maison maisons f place
school schools école écoles f place,inner,lid
church churches église églises f place,inner
hotel hotels hôtel hôtels m place,inner
museum museums musée musées m place,inner,lid
bank banks banque banques f place,inner,lid
factory factories usine usines f place,inner,lid
library libraries bibliothèque bibliothèques f place,inner,stack,lid
university universities université universités f place,inner
hospital hospitals hôpital hôpitaux m place,inner
castle castles château châteaux m place,inner
shop shops magasin magasins m place,lid
garden gardens jardin jardins m place,stack,lid
park parks parc parcs m place,inner,lid
city cities ville villes f place,inner
village villages village villages m place,inner
forest forests forêt forêts f place
office offices bureau bureaux m place,stack
door doors porte portes f thing,lid,stack
window windows fenêtre fenêtres f thing,lid,stack
box boxes boîte boîtes f thing,lid,light
bag bags sac sacs m thing,lid,light
book books livre livres m thing,light,written
letter letters lettre lettres f thing,light,written,lid
newspaper newspapers journal journaux m thing,light
key keys clé clés f thing,light
car cars voiture voitures f thing,machine
clock clocks horloge horloges f thing,machine
machine machines machine machines f thing,machine
boat boats bateau bateaux m thing,machine
table tables table tables f thing,machine
chair chairs chaise chaises f thing,machine
lamp lamps lampe lampes f thing,light,machine
painting paintings tableau tableaux m thing,light
dress dresses robe robes f thing,light,worn
hat hats chapeau chapeaux m thing,light,worn
coat coats manteau manteaux m thing,light,worn
flower flowers fleur fleurs f thing,light
tree trees arbre arbres m thing
apple apples pomme pommes f thing,light,food
orange oranges orange oranges f thing,light,food
cake cakes gâteau gâteaux m thing,light,food
egg eggs œuf œufs m thing,light,food
report reports rapport rapports m text,written,stack
project projects projet projets m text,stack
law laws loi lois f text,written
decision decisions décision décisions f text,stack
proposal proposals proposition propositions f text,written,stack
idea ideas idée idées f text
budget budgets budget budgets m text,stack
agreement agreements accord accords m text,written
treaty treaties traité traités m text,written
reform reforms réforme réformes f text,stack
story stories histoire histoires f text,written
article articles article articles m text,written
meeting meetings réunion réunions f text,stack
council councils conseil conseils m body,inner,stack
government governments gouvernement gouvernements m body,inner
committee committees comité comités m body,inner,stack
company companies entreprise entreprises f body,inner
parliament parliaments parlement parlements m body,inner
commission commissions commission commissions f body,inner,stack
team teams équipe équipes f body,inner,stack
association associations association associations f body,inner,stack
union unions union unions f body,inner
market markets marché marchés m area,inner
area areas espace espaces m area
""")
)

NAMES = {"Paul": "m", "Louis": "m", "Albert": "m", "Marie": "f", "Anna": "f", "Julie": "f"}

# English, masculine, feminine, masculine plural, feminine plural, masculine before a vowel, position, tags.
ADJECTIVES = tuple(
    Adjective(row[0], (row[1], row[2], row[3], row[4]), row[5], row[6], _tags(row[7]))
    for row in _rows("""
big grand grande grands grandes grand before person,animal,place,thing,body,area,text
small petit petite petits petites petit before person,animal,place,thing,body,area,text
old vieux vieille vieux vieilles vieil before person,animal,place,thing,text
new nouveau nouvelle nouveaux nouvelles nouvel before place,thing,text,body,area
beautiful beau belle beaux belles bel before person,animal,place,thing
young jeune jeune jeunes jeunes jeune before person,animal
good bon bonne bons bonnes bon before person,animal,thing,text,place
bad mauvais mauvaise mauvais mauvaises mauvais before text,place
red rouge rouge rouges rouges rouge quality thing
white blanc blanche blancs blanches blanc quality thing,place,animal
black noir noire noirs noires noir quality thing,animal
green vert verte verts vertes vert quality thing
blue bleu bleue bleus bleues bleu quality thing
expensive cher chère chers chères cher quality thing,place,text
useful utile utile utiles utiles utile quality thing,text
empty vide vide vides vides vide quality place
quiet tranquille tranquille tranquilles tranquilles tranquille quality person,animal,place
famous célèbre célèbre célèbres célèbres célèbre quality person,place,body
rich riche riche riches riches riche quality person,body
happy heureux heureuse heureux heureuses heureux quality person,animal
sad triste triste tristes tristes triste quality person,animal
strong fort forte forts fortes fort quality person,animal,body
intelligent intelligent intelligente intelligents intelligentes intelligent quality person,animal
honest honnête honnête honnêtes honnêtes honnête quality person
curious curieux curieuse curieux curieuses curieux quality person,animal
dangerous dangereux dangereuse dangereux dangereuses dangereux quality person,animal,place,text
important important importante importants importantes important quality person,place,text,body,area
interesting intéressant intéressante intéressants intéressantes intéressant quality person,place,text
difficult difficile difficile difficiles difficiles difficile quality text,person
modern moderne moderne modernes modernes moderne quality place,thing,text
European européen européenne européens européennes européen origin area,body,text
French français française français françaises français origin area,body,text,person,place
English anglais anglaise anglais anglaises anglais origin area,body,text,person,place
Italian italien italienne italiens italiennes italien origin area,body,text,person,place
national national nationale nationaux nationales national origin area,body,text
economic économique économique économiques économiques économique kind area,body,text
political politique politique politiques politiques politique kind body,text
public public publique publics publiques public kind body,text
""")
)

# English base, third person, past ("-" for a verb of state), participle; French je, il, nous, ils, infinitive,
# participle, auxiliary; tags of subjects and objects ("-" for none).
_VERB_TABLE = """
wait waits waited waited attends attend attendons attendent attendre attendu avoir person,animal -
work works worked worked travaille travaille travaillons travaillent travailler travaillé avoir person -
sing sings sang sung chante chante chantons chantent chanter chanté avoir person -
dance dances danced danced danse danse dansons dansent danser dansé avoir person -
walk walks walked walked marche marche marchons marchent marcher marché avoir person,animal -
speak speaks spoke spoken parle parle parlons parlent parler parlé avoir person -
laugh laughs laughed laughed ris rit rions rient rire ri avoir person -
eat eats ate eaten mange mange mangeons mangent manger mangé avoir person,animal -
arrive arrives arrived arrived arrive arrive arrivons arrivent arriver arrivé être person,animal -
leave leaves left left pars part partons partent partir parti être person -
come comes came come viens vient venons viennent venir venu être person,animal -
stay stays stayed stayed reste reste restons restent rester resté être person,animal -
fall falls fell fallen tombe tombe tombons tombent tomber tombé être person,animal -
see sees saw seen vois voit voyons voient voir vu avoir person,animal person,animal,place,thing
love loves - loved aime aime aimons aiment aimer aimé avoir person,animal person,animal,place,thing,text
know knows - known connais connaît connaissons connaissent connaître connu avoir person person,place,text
buy buys bought bought achète achète achetons achètent acheter acheté avoir person,body thing,animal
sell sells sold sold vends vend vendons vendent vendre vendu avoir person,body thing,animal
find finds found found trouve trouve trouvons trouvent trouver trouvé avoir person,animal person,animal,place,thing
write writes wrote written écris écrit écrivons écrivent écrire écrit avoir person,body written
open opens opened opened ouvre ouvre ouvrons ouvrent ouvrir ouvert avoir person lid
close closes closed closed ferme ferme fermons ferment fermer fermé avoir person lid
carry carries carried carried porte porte portons portent porter porté avoir person light
repair repairs repaired repaired répare répare réparons réparent réparer réparé avoir person machine
paint paints painted painted peins peint peignons peignent peindre peint avoir person thing,place
build builds built built construis construit construisons construisent construire construit avoir person,body place
visit visits visited visited visite visite visitons visitent visiter visité avoir person place
admire admires - admired admire admire admirons admirent admirer admiré avoir person person,place,thing,text
help helps helped helped aide aide aidons aident aider aidé avoir person,body person,body
invite invites invited invited invite invite invitons invitent inviter invité avoir person,body person
meet meets met met rencontre rencontre rencontrons rencontrent rencontrer rencontré avoir person person
hear hears heard heard entends entend entendons entendent entendre entendu avoir person,animal person,animal
choose chooses chose chosen choisis choisit choisissons choisissent choisir choisi avoir person,body person,thing,text
accept accepts accepted accepted accepte accepte acceptons acceptent accepter accepté avoir person,body text
reject rejects rejected rejected rejette rejette rejetons rejettent rejeter rejeté avoir person,body text
support supports - supported soutiens soutient soutenons soutiennent soutenir soutenu avoir person,body text,body
criticise criticises criticised criticised critique critique critiquons critiquent critiquer critiqué avoir person,body text,body
study studies studied studied étudie étudie étudions étudient étudier étudié avoir person,body text,area
prepare prepares prepared prepared prépare prépare préparons préparent préparer préparé avoir person,body text,food
protect protects protected protected protège protège protégeons protègent protéger protégé avoir person,body person,animal,place,area
give gives gave given donne donne donnons donnent donner donné avoir person,body light,text
show shows showed shown montre montre montrons montrent montrer montré avoir person,body thing,text
send sends sent sent envoie envoie envoyons envoient envoyer envoyé avoir person,body light,written
offer offers offered offered offre offre offrons offrent offrir offert avoir person light
say says said said dis dit disons disent dire dit avoir person -
think thinks thought thought pense pense pensons pensent penser pensé avoir person -
believe believes believed believed crois croit croyons croient croire cru avoir person -
want wants - wanted veux veut voulons veulent vouloir voulu avoir person -
"""  # noqa: E501


def _verb(row: list[str]) -> Verb:
    base, third, past, participle, *french, auxiliary, subjects, objects = row
    *present, infinitive, french_participle = french
    return Verb(
        base,
        third,
        past.strip("-"),
        participle,
        tuple(present),
        infinitive,
        french_participle,
        auxiliary,
        _tags(subjects),
        frozenset() if objects == "-" else _tags(objects),
    )


_VERBS = {row[0]: _verb(row) for row in _rows(_VERB_TABLE)}
SPEECH = tuple(_VERBS[base] for base in ("say", "think", "believe"))
"""Verbs that take a clause: "says that"."""
WANT = _VERBS["want"]
GIVING = tuple(_VERBS[base] for base in ("give", "show", "send", "offer"))
"""Verbs that take an object and a recipient: "gives it to us"."""
TRANSITIVE = tuple(verb for verb in _VERBS.values() if verb.objects and verb not in GIVING)
INTRANSITIVE = tuple(verb for verb in _VERBS.values() if not verb.objects and verb not in (*SPEECH, WANT))
VERBS = tuple(_VERBS.values())

AVOIR = ("ai", "a", "avons", "ont")
ETRE = ("suis", "est", "sommes", "sont")
ETAIT = ("étais", "était", "étions", "étaient")
BE_PRESENT = ("am", "is", "are", "are")
BE_PAST = ("was", "was", "were", "were")
MODALS = {"can": ("peux", "peut", "pouvons", "peuvent"), "must": ("dois", "doit", "devons", "doivent")}

THE = Determiner("the", "the", "le", "la", "les")
A = Determiner("a", "", "un", "une", "")
SOME = Determiner("", "some", "", "", "des")
A_NEGATED = Determiner("a", "", "de", "de", "")
"""After a negated verb: "does not see a house", « ne voit pas de maison »; `ANY` is its plural."""
ANY = Determiner("", "any", "", "", "de")
MANY = Determiner("", "many", "", "", "beaucoup de")
THIS = Determiner("this", "these", "ce", "cette", "ces")
EVERY = Determiner("every", "", "chaque", "chaque", "")
SEVERAL = Determiner("", "several", "", "", "plusieurs")
POSSESSIVES = (
    Determiner("my", "my", "mon", "ma", "mes"),
    Determiner("his", "his", "son", "sa", "ses"),
    Determiner("her", "her", "son", "sa", "ses"),
    Determiner("our", "our", "notre", "notre", "nos"),
    Determiner("their", "their", "leur", "leur", "leurs"),
)
NUMERALS = tuple(
    Determiner("", english, "", "", french)
    for english, french in (("two", "deux"), ("three", "trois"), ("four", "quatre"), ("five", "cinq"), ("ten", "dix"))
)
DETERMINERS = (THE, A, A_NEGATED, SOME, ANY, MANY, THIS, EVERY, SEVERAL, *POSSESSIVES, *NUMERALS)
ALL = {"m": "tous", "f": "toutes"}

# Subject, object, French subject, object, dative, gender, person, rank. The gender of "I", "we" and of "it" and "they"
# without antecedent is masculine. "it" is never a subject.
PRONOUNS = {
    row[1]: Pronoun(row[0], row[1], row[2], row[3], row[4], row[5], int(row[6]), int(row[7]))
    for row in _rows(f"""
I me je me me m {FIRST_SINGULAR} 1
he him il le lui m {THIRD_SINGULAR} 2
she her elle la lui f {THIRD_SINGULAR} 2
- it - le - m {THIRD_SINGULAR} 2
we us nous nous nous m {FIRST_PLURAL} 1
they them ils les leur m {THIRD_PLURAL} 2
""")
}

FREQUENCY = {"often": "souvent", "always": "toujours", "sometimes": "parfois"}
"""Adverbs before the English verb, after the finite French one."""
FINAL_ADVERBS = {"here": "ici", "there": "là-bas", "outside": "dehors"}
INTENSIFIERS = {"very": "très", "too": "trop"}

_LOCATED = _tags("person,animal,place,thing,body,area")
PLACE_PREPOSITIONS = (
    Preposition("in", "dans", _LOCATED, _tags("place")),
    Preposition("near", "près de", _LOCATED, _tags("place")),
    Preposition("behind", "derrière", _LOCATED, _tags("place")),
)
COMPANY = Preposition("with", "avec", _tags("person"), _tags("person"))
BY = Preposition("by", "par", frozenset(), _tags("person,body"))
TO = Preposition("to", "à", frozenset(), _tags("person"))
NOUN_PREPOSITIONS = (
    *PLACE_PREPOSITIONS,
    Preposition("with", "avec", _tags("person"), _tags("light")),
    Preposition("from", "de", _tags("person,animal"), _tags("inner")),
    Preposition("of", "de", _tags("kin,animal,thing,place,text,body,area"), _tags("person")),
    Preposition("of", "de", _tags("text,area"), _tags("body")),
    Preposition("about", "sur", _tags("text"), _tags("person,place,area,body")),
    Preposition("for", "pour", _tags("thing,text"), _tags("person,body")),
)

COORDINATORS = {"and": "et", "but": "mais"}
SUBORDINATORS = {"because": "parce que", "when": "quand", "while": "pendant que", "if": "si"}


def english_forms() -> set[str]:
    """All English words of the lexicon and of the constructions of `syntax`."""
    phrases = ["a an all and by cannot did do does not never that to who with , .", *NAMES]
    phrases += [form for noun in NOUNS for form in (noun.english, noun.english_plural)]
    phrases += [adjective.english for adjective in ADJECTIVES]
    phrases += [form for verb in VERBS for form in (verb.base, verb.third, "" if verb in SPEECH else verb.past)]
    phrases += [verb.participle for verb in (*TRANSITIVE, *GIVING)]
    phrases += [form for determiner in DETERMINERS for form in (determiner.singular, determiner.plural)]
    phrases += [form.strip("-") for pronoun in PRONOUNS.values() for form in (pronoun.subject, pronoun.object)]
    phrases += [preposition.english for preposition in NOUN_PREPOSITIONS]
    phrases += [*BE_PRESENT, *BE_PAST, *MODALS, *FREQUENCY, *FINAL_ADVERBS, *INTENSIFIERS]
    phrases += [*COORDINATORS, *SUBORDINATORS]
    return {word for phrase in phrases for word in phrase.split()}


def french_forms() -> set[str]:
    """All French words of the lexicon and of the constructions of `syntax`, before elision and contraction."""
    phrases = ["et par ne pas jamais été qui que avec à elles mon son cet s' , .", *NAMES, *ALL.values()]
    phrases += [form for noun in NOUNS for form in (noun.french, noun.french_plural)]
    phrases += [form for adjective in ADJECTIVES for form in (*adjective.french, adjective.before_vowel)]
    phrases += [form for verb in VERBS for form in verb.present]
    for verb in (*INTRANSITIVE, *TRANSITIVE, *GIVING):
        agrees = verb.objects or verb.auxiliary == "être"
        endings = ("", "e", "s", "es") if agrees else ("",)
        phrases += [verb.infinitive, *(verb.french_participle + ending for ending in endings)]
    phrases += [form for item in DETERMINERS for form in (item.masculine, item.feminine, item.french_plural)]
    for pronoun in PRONOUNS.values():
        phrases += [pronoun.french_subject.strip("-"), pronoun.french_object, pronoun.dative.strip("-")]
    phrases += [preposition.french for preposition in NOUN_PREPOSITIONS]
    phrases += [*AVOIR, *ETRE, *ETAIT, *(form for forms in MODALS.values() for form in forms)]
    for table in (FREQUENCY, FINAL_ADVERBS, INTENSIFIERS, COORDINATORS, SUBORDINATORS):
        phrases += table.values()
    return {word for phrase in phrases for word in phrase.split()}
