//! A label, and a text beside it whose further lines begin below its first.

use rulestep_base::wording::clean::{self, Marks};

/// Columns that a text takes with its label: on a terminal of 80 nothing wraps it again.
pub const WIDTH: usize = 78;

/// The lines; `indent` is the column of the text.
pub fn hanging(label: &str, indent: usize, text: &str) -> String {
    let pad = indent.saturating_sub(label.chars().count());
    let lines = clean::wrap(text, WIDTH.saturating_sub(indent), usize::MAX, Marks::Unicode);
    let lines: Vec<String> = lines.iter().map(|line| line.text().trim_end().to_owned()).collect();
    format!("{label}{:pad$}{}", "", lines.join(&format!("\n{:indent$}", "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_lines_begin_below_the_first() {
        let text = "word ".repeat(30);
        let lines = hanging("  ✗", 6, text.trim_end());
        assert!(lines.starts_with("  ✗   word word"), "{lines}");
        assert_eq!(lines.split_whitespace().count(), 31);
        for line in lines.lines().skip(1) {
            assert!(line.starts_with("      word") && line.len() <= WIDTH, "{line}");
        }
        assert_eq!(hanging("long label", 4, "text"), "long labeltext");
    }
}
