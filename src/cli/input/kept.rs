//! Cached diagnostics about recordings.

use serde::{Deserialize, Serialize};

use rulestep_base::diagnostic::{Diagnostic, Label, Loss, Place, Severity};
use rulestep_engine::dialect;

/// A diagnostic whose places are files and lines: texts of policies are not cached.
#[derive(Serialize, Deserialize)]
struct KeptDiagnostic {
    code: String,
    severity: Severity,
    message: String,
    labels: Vec<KeptLabel>,
    help: Option<String>,
    loss: Option<Loss>,
}

#[derive(Serialize, Deserialize)]
struct KeptLabel {
    file: String,
    line: Option<(u64, Option<u64>)>,
    message: Option<String>,
    primary: bool,
}

impl KeptDiagnostic {
    fn of(told: &Diagnostic) -> Option<KeptDiagnostic> {
        let label = |label: &Label| {
            let (file, line) = match &label.place {
                Place::Text { .. } => return None,
                Place::File { file } => (file.to_string(), None),
                Place::Line { file, line, byte } => (file.to_string(), Some((*line, *byte))),
            };
            Some(KeptLabel { file, line, message: label.message.clone(), primary: label.primary })
        };
        let Diagnostic { code, severity, message, labels, help, fix: None, loss } = told else { return None };
        Some(KeptDiagnostic {
            code: code.to_string(),
            severity: *severity,
            message: message.clone(),
            labels: labels.iter().map(label).collect::<Option<_>>()?,
            help: help.clone(),
            loss: *loss,
        })
    }

    fn into_diagnostic(self) -> Option<Diagnostic> {
        let label = |KeptLabel { file, line, message, primary }: KeptLabel| {
            let file = file.into();
            let place = match line {
                None => Place::File { file },
                Some((line, byte)) => Place::Line { file, line, byte },
            };
            Label { place, message, primary }
        };
        let mut told = Diagnostic::new(dialect::page(&self.code)?.code, self.severity, self.message);
        told.labels = self.labels.into_iter().map(label).collect();
        (told.help, told.loss) = (self.help, self.loss);
        Some(told)
    }
}

/// For lists of diagnostics.
pub mod diagnostics {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::KeptDiagnostic;
    use rulestep_base::diagnostic::Diagnostic;

    pub fn serialize<S: Serializer>(told: &[Diagnostic], serializer: S) -> Result<S::Ok, S::Error> {
        let kept: Option<Vec<_>> = told.iter().map(KeptDiagnostic::of).collect();
        kept.ok_or_else(|| S::Error::custom("a text of a policy is not kept"))?.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Diagnostic>, D::Error> {
        let kept = Vec::<KeptDiagnostic>::deserialize(deserializer)?.into_iter();
        let told: Option<Vec<_>> = kept.map(KeptDiagnostic::into_diagnostic).collect();
        told.ok_or_else(|| D::Error::custom("a code is not known"))
    }
}

/// For outputs, which are text: as lists of numbers they would be four times as long.
pub mod texts {
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(outputs: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
        let texts: Result<Vec<_>, _> = outputs.iter().map(|bytes| std::str::from_utf8(bytes)).collect();
        texts.map_err(S::Error::custom)?.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<u8>>, D::Error> {
        Ok(Vec::<String>::deserialize(deserializer)?.into_iter().map(String::into_bytes).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rulestep_base::diagnostic::{Fix, code};
    use rulestep_base::source::{Source, Span};

    #[test]
    fn what_is_kept_of_a_diagnostic_is_all_of_it() {
        let told = [
            Diagnostic::lost(code::DAMAGED_LINE, Loss::MayHoldCalls, "not JSON").on_line("a", 3).help("look"),
            Diagnostic::notice(code::NOT_A_SESSION, "no").in_file("b").label("here"),
            Diagnostic::error(code::EMPTY_SESSION, "none").primary(Place::Line {
                file: "c".into(),
                line: 1,
                byte: Some(7),
            }),
            Diagnostic::warning(dialect::codes().next().unwrap().code, "of a dialect"),
        ];
        for told in told {
            let text = serde_json::to_string(&KeptDiagnostic::of(&told).unwrap()).unwrap();
            let kept: KeptDiagnostic = serde_json::from_str(&text).unwrap();
            assert_eq!(kept.into_diagnostic().unwrap(), told);
        }
        let source = Source::new("a.yaml", "a: 1");
        let of_text = Diagnostic::error(code::SYNTAX, "m").at(&source, Span { start: 0, end: 1 });
        assert!(KeptDiagnostic::of(&of_text).is_none());
        let fix: Option<Fix> = None;
        assert!(KeptDiagnostic::of(&Diagnostic::error(code::SYNTAX, "m").fix(fix)).is_some());
    }
}
