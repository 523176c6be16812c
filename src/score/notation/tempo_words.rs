//! Words that musicians read: tempi and jumps.

use super::written::Sign;

/// The tempo that words stand for, in quarter notes per minute: the middle of what metronomes print. The first word that is one counts.
pub(super) fn tempo_of_words(text: &str) -> Option<f64> {
    const WORDS: [(&str, f64); 26] = [
        ("larghissimo", 24.0),
        ("grave", 40.0),
        ("largo", 50.0),
        ("lento", 52.0),
        ("lent", 52.0),
        ("larghetto", 63.0),
        ("langsam", 56.0),
        ("adagio", 66.0),
        ("adagietto", 72.0),
        ("andante", 84.0),
        ("andantino", 92.0),
        ("maestoso", 88.0),
        ("gehend", 84.0),
        ("moderato", 108.0),
        ("modéré", 108.0),
        ("mässig", 108.0),
        ("mäßig", 108.0),
        ("allegretto", 112.0),
        ("allegro", 132.0),
        ("lebhaft", 132.0),
        ("animé", 126.0),
        ("vivace", 150.0),
        ("vif", 150.0),
        ("schnell", 150.0),
        ("presto", 180.0),
        ("prestissimo", 200.0),
    ];
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphabetic());
    words.find_map(|word| WORDS.iter().find(|(name, _)| *name == word)).map(|(_, tempo)| *tempo)
}

/// The signs that words stand for: "D.C. al Fine", "Dal Segno", "To Coda", "Fine".
pub(super) fn jump_of_words(text: &str) -> Option<Sign> {
    let lower = text.to_lowercase();
    let letters: String = lower.chars().filter(|c| c.is_alphabetic()).collect();
    let begins = |starts: &[&str]| starts.iter().any(|start| letters.starts_with(start));
    if lower.contains("da capo") || begins(&["dacapo"]) || (letters.starts_with("dc") && lower.starts_with("d.")) {
        Some(Sign::DaCapo)
    } else if begins(&["dalsegno"]) || (letters.starts_with("ds") && lower.starts_with("d.")) {
        Some(Sign::DalSegno)
    } else if begins(&["tocoda", "alcoda"]) {
        Some(Sign::ToCoda)
    } else if letters == "fine" {
        Some(Sign::Fine)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_a_tempo_or_nothing() {
        assert_eq!(tempo_of_words("Allegro ma non troppo"), Some(132.0));
        assert_eq!(tempo_of_words("Molto Adagio."), Some(66.0));
        assert_eq!(tempo_of_words("dolce"), None);
        assert_eq!(tempo_of_words(""), None);
    }

    #[test]
    fn words_send_to_other_bars() {
        assert_eq!(jump_of_words("D.C. al Fine"), Some(Sign::DaCapo));
        assert_eq!(jump_of_words("Menuetto da capo"), Some(Sign::DaCapo));
        assert_eq!(jump_of_words("Da Capo"), Some(Sign::DaCapo));
        assert_eq!(jump_of_words("D. S. al Coda"), Some(Sign::DalSegno));
        assert_eq!(jump_of_words("To Coda"), Some(Sign::ToCoda));
        assert_eq!(jump_of_words("Fine."), Some(Sign::Fine));
        assert_eq!(jump_of_words("finely"), None);
        assert_eq!(jump_of_words("dc"), None);
    }
}
