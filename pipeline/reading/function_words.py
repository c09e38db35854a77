"""Words that say nothing by themselves, for each reader as many as serve it: what they share stands here once.

English, and what of German, French and Spanish no list may lack.
"""

_SHARED_LIST = """
    a an and are as at be but by can do for from has have how if in is it its may no not of on or our so than that
    the their then there these they this those to was we were what when where which who will with you your
"""
_SHARED = frozenset(_SHARED_LIST.split())

_COMMON_LIST = """
    about above after again against all already also although always am among another any anyone anything around
    away back became because become been before being below between both cannot could did does doing done down due
    during each either else enough etc even ever every everything few further get go goes going had having he her
    here him his however i instead into itself just least less let like made make makes many might more most much
    must my never nor now off often once one only onto other others out over own per quite rather really said same
    say shall she should since some something sometimes soon still such them themselves thing things though through
    thus together too toward under until up upon us very via well whether while whole whose why within would yes yet
    auf con dans das del dem den der des die du ein eine el en es est et für im ist la las le les los mit oder par
    para por pour sur una und une von y zu
"""
_COMMON = _SHARED | frozenset(_COMMON_LIST.split())

_FUNCTION_WORD_LIST = """
    's ago came everyone gets getting got hers herself himself me mine mr mrs ms myself n't ours ourselves perhaps
    says somebody someone theirs towards whatever whom yours yourself
    au aux einer eines que qui se su un
"""
FUNCTION_WORDS = _COMMON | frozenset(_FUNCTION_WORD_LIST.split())
"""The judge compares texts without them; negations are compared on their own."""

_STOP_WORD_LIST = """
    almost ask available best better call called case cases certain change come common complete contain contains
    create created current day default define described different directly easily end example exist exists find
    first following follows found full gave general give given gives good held help important include included
    includes including indeed keep kind know known large last later latter likely little long longer look lot main
    making maybe means name named near necessary need needed needs new next note nothing number old order part
    particular perform possible present provide provided provides put read real required requires result right run
    running s see seen set several show shown shows similar simple simply single small specific specify sure t take
    taken takes tell therefore three time times two type use used useful user's uses using usually various want way
    ways without work works
"""
STOP_WORDS = _COMMON | frozenset(_STOP_WORD_LIST.split())
"""No key phrase holds one of them: words of manuals that name no subject."""

_PROSE_LIST = """
    been che could does il into more must nicht one only should some such them use used while would
    das der des die el es est et ist la las le les los un una und y
"""
PROSE_WORDS = _SHARED | frozenset(_PROSE_LIST.split())
"""By their share prose is told from listings."""

NO_NAMES = _SHARED | frozenset(["he", "i", "i'm", "it's", "she", "use", "why"])
"""A single one of them, capitalised, is no name."""

_POINTING_LIST = """
    he she it they we his her its their him them this that these those such both neither another here there then also
    instead otherwise however
"""
POINTING_WORDS = frozenset(_POINTING_LIST.split())
"""A sentence that begins with one of them points back to what was said before it."""
