//! Forms in which words of a command name files and hosts, as rows define them.

pub mod files;
pub mod hosts;

use super::options::Arguments;
use super::settings::is_named;
use super::word::Word;

/// The values of `KEY=VALUE` and `KEY VALUE` in those of these options, for these keys, whatever the case of their letters.
fn settings<'a>(
    arguments: &'a Arguments<'_>,
    options: &'a [String],
    keys: &'a [String],
) -> impl Iterator<Item = Word> + 'a {
    arguments.values_of(options).filter_map(|word| {
        let (key, value) = word.split_once('=').or_else(|| word.split_once(' '))?;
        let key = key.known()?.trim().to_lowercase();
        let value = value.known().map_or_else(|| value.clone(), |text| Word::text(text.trim()));
        keys.iter().any(|known| is_named(&key, known)).then_some(value)
    })
}
