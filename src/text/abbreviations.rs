//! Abbreviations of languages in Latin script: whose dot belongs to them, and which of them end a sentence.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What comes after an abbreviation and its dot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Abbreviation {
    /// The sentence goes on: `Dr.`, `z.B.`
    GoesOn,
    /// Only before a number: `No. 5`, `S. 12`. Elsewhere these are words or initials.
    BeforeNumber,
    /// A name goes on, a word that likes to begin sentences begins one: `Inc.`, `U.S.`, initials.
    MayEnd,
    /// Before a capital a new sentence begins: `etc.`
    Ends,
}

// Words of other meanings are left out (`on`, `me`, `am`); in lower case for either case, else as written.
const GOES_ON: &str = "
    adm approx capt cf cmdr col cpl dr drs esq fr gen gov hon lt Maj messrs mr mrs ms mt ph pres prof rep rev sen sens
    sgt st v viz vs dept est e.g i.e al
    bzw ca d.h dipl dr. ebd einschl evtl geb gest ggf ggü hl hrsg inkl ing jh jhd lat lt Mill mio mrd o.g o.ä
    phil sog str u.a u.ä urspr usf vgl vorm z.b z.t z.zt zzgl abk bspw allg österr engl griech ital
    mm mme mmes mlle mlles mgr éd env p.ex
    ang bl.a bl dvs evt f.eks fx f hhv iflg inkl jf jfr kgl m.fl m.m mht nuv pga skt stk tlf vedr
    bijv blz dhr evt mevr mw nl o.a resp t.a.v t.o.v zgn
    avv dott dssa egr geom sig sigg sig.ra ss
    apdo dña excmo lic ntra sra srta sr sres pág dra
    exmo ilmo
    natl acad proc sci";
const BEFORE_NUMBER: &str = "
    no nos nr nrs fig figs eq eqs p pp vol vols ch sec sect art arts ex ref refs tab op cit
    abs anm aufl bd bde s sp kap ziff tel abb §
    jan feb mar apr jun jul aug sep sept oct nov dec okt dez mrz
    kl kr nº n° núm num tfno tlf ca";
const MAY_END: &str = "bros co corp inc jr ltd plc sr llc chr gmbh vol assn univ ave blvd rd s.a ph.d m.d b.a m.a d.c";
const ENDS: &str = "etc usw osv o.l e.a a.m p.m ff etw mfl m.v enz ecc";

/// Words that begin sentences far more often than they go on after an initial or a company's name.
const STARTERS: &str = "
    The This That These Those He She It We They You There In On At As But And If When While After Before Although For
    From His Her Its Their Our My What Who How Why Where Not No So Then Thus However Moreover Here With To By
    Der Die Das Er Sie Es Wir Ein Eine Im Am Auf Aus Bei Nach Mit Als Wenn Da Dies Diese Dieser Dieses Seit Für Zu Zum
    Auch Aber Und Doch Nur Hier Seine Ihre Zwar
    Le La Les Il Elle Ils Elles Un Une En Au Dans Mais Ce Cette Ces Pour Sur
    Det De Den Han Hun Vi Jeg Der Men Og Hvis Da Når På Fra Til Efter
    El Los Las Lo Una Pero Por Con Gli Nel Nella Het Een Hij Zij";

static KINDS: LazyLock<HashMap<&str, Abbreviation>> = LazyLock::new(|| {
    let lists = [
        (BEFORE_NUMBER, Abbreviation::BeforeNumber),
        (GOES_ON, Abbreviation::GoesOn),
        (MAY_END, Abbreviation::MayEnd),
        (ENDS, Abbreviation::Ends),
    ];
    lists.into_iter().flat_map(|(words, kind)| words.split_whitespace().map(move |word| (word, kind))).collect()
});

/// What `word`, without its dot, abbreviates; `None` for any other word.
pub(super) fn abbreviation(word: &str) -> Option<Abbreviation> {
    if word.len() > LONGEST {
        return None;
    }
    let mut chars = word.chars();
    let is_letter = chars.next().is_some_and(char::is_alphabetic) && chars.as_str().is_empty();
    let lower = word.to_lowercase();
    match KINDS.get(word).or_else(|| KINDS.get(lower.as_str())) {
        // In capitals a single letter is an initial.
        Some(_) if is_letter && word != lower => Some(Abbreviation::MayEnd),
        Some(kind) => Some(*kind),
        None if is_letter && word != lower => Some(Abbreviation::MayEnd),
        None if is_dotted(word) => Some(if word == lower { Abbreviation::GoesOn } else { Abbreviation::MayEnd }),
        None => None,
    }
}

const LONGEST: usize = 16;

/// `U.S`, `f.eks`: letters in short groups, one of them a single letter.
fn is_dotted(word: &str) -> bool {
    let mut groups = word.split('.').map(|group| (group.chars().count(), group.chars().all(char::is_alphabetic)));
    word.contains('.')
        && word.split('.').any(|group| group.chars().count() == 1)
        && groups.all(|(count, letters)| letters && (1..=4).contains(&count))
}

/// True for a word that begins a sentence where an initial or an abbreviation would leave it open.
pub(super) fn likes_to_begin(word: &str) -> bool {
    static WORDS: LazyLock<std::collections::HashSet<&str>> = LazyLock::new(|| STARTERS.split_whitespace().collect());
    WORDS.contains(word)
}

/// Month names of languages that write `3. Oktober`, and other nouns that follow ordinal numbers.
const AFTER_ORDINAL: &str = "
    Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember
    Jahrhundert Jahrhunderts Jahrtausend Lebensjahr Lebensjahres Weltkrieg Weltkriegs Platz Klasse Liga Auflage
    januar februar marts mars april maj mai juni juli august september oktober november december desember";

/// Words before a number that make it an ordinal, in lower case.
const BEFORE_ORDINAL: &str = "am im vom zum zur beim ab bis der die das dem den des seit d";

/// True when the dot after `number` makes it an ordinal rather than ending a sentence.
pub(super) fn is_ordinal(before: &str, number: &str, next: &str) -> bool {
    let short = (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    let listed = |list: &str, word: &str| list.split_whitespace().any(|w| w == word);
    short
        && !next.is_empty()
        && (next.starts_with(char::is_lowercase)
            || listed(AFTER_ORDINAL, next)
            || next.starts_with(char::is_alphabetic) && listed(BEFORE_ORDINAL, &before.to_lowercase()))
}
