//! Rows of numbers with a name.

/// Lines of numbers, aligned to the right; the first one has the heads.
pub(super) fn columns(heads: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let width = |column: usize, head: &str| {
        let cells = rows.iter().filter_map(|cells| cells.get(column));
        cells.map(String::len).chain([head.len()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = heads.iter().enumerate().map(|(column, head)| width(column, head)).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        cells.collect::<Vec<_>>().join("  ")
    };
    let rows = rows.iter().map(|cells| line(cells.iter().map(String::as_str).collect()));
    std::iter::once(line(heads.to_vec())).chain(rows).collect()
}
