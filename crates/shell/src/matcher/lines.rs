//! A question about programs as command lines for people.

use std::fmt;

use super::{Flag, Runs, Within, Words};

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, choice) in self.0.iter().enumerate() {
            let (between, mark) = (if at > 0 { "|" } else { "" }, if choice.out { "!" } else { "" });
            write!(f, "{between}{mark}{}", choice.glob.name())?;
        }
        Ok(())
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.value.as_ref().map_or(Ok(()), |value| write!(f, "={}", value.name()))
    }
}

impl Runs {
    /// The command line of each of its programs, `A=* git push --force`, and its further conditions.
    pub fn lines(&self) -> impl Iterator<Item = (String, String)> {
        let before: String = self.env.iter().map(|set| format!("{set} ")).collect();
        let after = self.args.iter().map(|words| format!(" {words}"));
        let after: String = after.chain(self.flags.iter().map(|flag| format!(" {flag}"))).collect();
        let besides = self.besides();
        self.programs.iter().map(move |name| (format!("{before}{}{after}", name.name()), besides.clone()))
    }

    /// The number of its programs.
    pub fn len(&self) -> usize {
        self.programs.len()
    }

    /// The condition on the folder, and the options that must be absent, in words.
    fn besides(&self) -> String {
        let quoted = |texts: Vec<String>| {
            texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(" or ")
        };
        let folder = self.within.iter().flat_map(Within::written);
        let (out, own): (Vec<&str>, Vec<&str>) = folder.partition(|text| text.starts_with('!'));
        let owned =
            |texts: Vec<&str>| texts.iter().map(|text| text.trim_start_matches('!').to_owned()).collect();
        let parts = [
            (!own.is_empty()).then(|| format!("in {}", quoted(owned(own)))),
            (!out.is_empty()).then(|| format!("except {}", quoted(owned(out)))),
            (!self.without.is_empty())
                .then(|| format!("without {}", quoted(self.without.iter().map(Flag::to_string).collect()))),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
