// Writes src/condition/liquid/letters.rs: the code points of \p{L}, \p{M} and \p{Nd} as Node knows them.
//   node letters.mjs > ../../../src/condition/liquid/letters.rs
const wanted = /[\p{L}\p{M}\p{Nd}]/u;
const ranges = [];
for (let code = 0; code <= 0x10ffff; code++) {
  if (!wanted.test(String.fromCodePoint(code))) continue;
  const last = ranges.at(-1);
  if (last && last[1] === code - 1) last[1] = code;
  else ranges.push([code, code]);
}
const hex = (code) => '0x' + code.toString(16);
const lines = [];
let line = '   ';
for (const [from, to] of ranges) {
  const item = ` (${hex(from)}, ${hex(to)}),`;
  if (line.length + item.length > 118) {
    lines.push(line);
    line = '   ';
  }
  line += item;
}
lines.push(line);
console.log(`//! The letters, marks and decimal digits of Unicode ${process.versions.unicode}, for \`slugify\`.
//!
//! Written by \`tests/oracles/liquid/letters.mjs\`; no crate of ours holds the general categories.

/// Whether the code point is a letter, a mark or a decimal digit.
pub(super) fn is_letter(code: u32) -> bool {
    let at = RANGES.partition_point(|&(_, to)| to < code);
    RANGES.get(at).is_some_and(|&(from, _)| from <= code)
}

#[rustfmt::skip]
const RANGES: &[(u32, u32)] = &[
${lines.join('\n')}
];`);
