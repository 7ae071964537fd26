// Writes what Node's RegExp says of patterns and texts, one JSON object a line:
//   {"pattern", "text", "match": bool, "index"?, "end"?}     index and end in UTF-16 units, where it matches
//   {"pattern", "error": "syntax" | "unsupported"}
// Leading groups of the flags i, m, s are taken off and given as flags; `\p{`, `\P{` and `\u{` are unsupported.
//
// Run by hand, no packages needed:  node generate.mjs [COUNT [SEED]] > ../../conformance/js_regex.jsonl
// With COUNT 0 only the picked cases are written.

const count = Number(process.argv[2] ?? 5000);
let state = BigInt(process.argv[3] ?? 20);

function random(below) { // splitmix64
  state = (state + 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
  let z = state;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & 0xffffffffffffffffn;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & 0xffffffffffffffffn;
  return Number((z ^ (z >> 31n)) % BigInt(below));
}
const chance = (percent) => random(100) < percent;
const pick = (list) => list[random(list.length)];
const times = (n, make) => Array.from({ length: n }, make);

const seen = new Set();
const balance = { true: 0, false: 0 };
function write(pattern, text, filter) {
  if (!pattern.isWellFormed() || !text.isWellFormed()) return false;
  let rest = pattern, flags = '';
  for (let m; (m = /^\(\?([ims]+)\)/.exec(rest)); rest = rest.slice(m[0].length)) flags += m[1];
  flags = [...new Set(flags)].join('');
  let line;
  let regex;
  try { regex = new RegExp(rest, flags); } catch { regex = null; }
  if (regex === null) line = { pattern, error: 'syntax' };
  else if (/^(?:[^\\]|\\[^pPu]|\\[pPu](?!\{))*\\[pPu]\{/.test(rest)) line = { pattern, error: 'unsupported' };
  else {
    const m = regex.exec(text);
    line = { pattern, text, match: m !== null };
    if (m) Object.assign(line, { index: m.index, end: m.index + m[0].length });
  }
  if (filter && !filter(line)) return false;
  const json = JSON.stringify(line);
  if (seen.has(json)) return false;
  seen.add(json);
  process.stdout.write(json + '\n');
  return true;
}

// ---- picked cases: each pattern with each of its texts ----

const picked = [
  // line ends, dot, anchors
  ['.', ['', 'a', '\n', '\r', '\u2028', '\u2029', '\u0085', '\u000b', '😀']],
  ['^..$', ['😀', 'ab', 'é', '👍👎']],
  ['^.$', ['😀', 'é', 'e\u0301']],
  ['(?s)^.{3}$', ['a\nb', '\r\n\n', '😀\n']],
  ['(?m)^b$', ['a\nb\nc', 'a\rb\rc', 'a\u2028b\u2029c', 'a\u0085b', 'ab', 'a\r\nb']],
  ['^b', ['a\nb', 'b']], ['a$', ['a\n', 'a', 'a\nb']], ['(?m)$', ['', 'x']], ['(?m)^$', ['a\n\nb', 'a\nb', '']],
  ['(?m)a$\\n^b', ['a\nb']], ['$^', ['', 'a']], ['x*^', ['xx']], ['a^b|$', ['a']], ['[^]', ['', '\n', '😀']], ['[]', ['', 'a']], ['[^]*x', ['a\nb\rx']],
  ['a[]|b', ['ab']], ['(?s)(?i)(?m)^A.B$', ['x\na\nb\ny']], ['(?ims)^A.B$', ['x\na\nb\ny', 'x\na\nby']], ['(?ii)a', ['A']], ['(?i)', ['', 'x']],
  // words, digits, space
  ['\\bé', ['é', 'aé']], ['\\w', ['é', 'ſ', 'K', '_', '٣']], ['\\d', ['٣', '3', '３']], ['\\s', ['\u00a0', '\ufeff', '\u180e', '\u200b', '\u0085', '\u2003', '\u3000', '\u1680', '\u202f', '\u205f']],
  ['\\S', ['\u00a0', '\ufeff', '\u180e', 'a']], ['^\\W+$', ['äöü', '¿!', 'a!']], ['\\b', ['', '!', 'a', 'ä']], ['\\B', ['', '!', 'a', 'ab']], ['(?i)\\bſ', ['ſ']], ['\\Bcat\\B', ['cat', 'xcaty', 'öcatö']],
  ['[\\b]', ['\b', 'b']], ['[\\B]', ['B', 'a']], ['[\\w-]', ['-', 'a', '!']], ['[\\w-z]', ['-', 'z', '!']], ['[a-\\d]', ['-', 'a', '5', 'b']], ['[\\d-a-z]', ['-', 'z', 'm', '5']], ['[\\s\\S]', ['\n']], ['[^\\s\\S]', ['a']], ['[^\\W]', ['a', 'é']],
  ['[-a]', ['-']], ['[a-]', ['-']], ['[^-a]', ['-', 'b']], ['[--/]', ['.', '-', '0']], ['[+--]', [',', '.']], ['[a-z-9]', ['-', '9', '5']], ['[]a]', [']a', 'a]']], ['[^]a]', ['xa]', 'a]']], ['[[]', ['[']], ['[(]', ['(']], ['[a\\]b]', [']']],
  // escapes
  ['\\cA', ['\x01', 'cA']], ['\\cz', ['\x1a']], ['\\c', ['\\c', 'c']], ['\\c1', ['\\c1', '\x11']], ['[\\c1]', ['\x11', '\\', 'c', '1']], ['[\\c_]', ['\x1f', '_']], ['[\\c]', ['\\', 'c']], ['[\\c*]', ['\\', 'c', '*']], ['[\\cA]', ['\x01', 'A']], ['\\c*', ['\\ccc', '\\']],
  ['\\x41', ['A']], ['\\x4', ['x4']], ['\\xg', ['xg']], ['\\u0041', ['A']], ['\\u004', ['u004']], ['\\u', ['u']], ['[\\u0041-\\u0043]', ['B']], ['[\\x]', ['x']], ['\\u00e9', ['é']], ['\\x{41}', ['x'.repeat(41)]],
  ['\\0', ['\0', '0']], ['\\00', ['\0']], ['\\07', ['\x07']], ['\\08', ['\x008']], ['\\1', ['\x01', '1', '']], ['\\8', ['8']], ['\\9', ['9']], ['\\18', ['\x018']], ['\\377', ['ÿ']], ['\\400', [' 0']], ['\\777', ['?7']], ['\\101', ['A']], ['[\\1]', ['\x01']], ['[\\8]', ['8']], ['[\\101]', ['A']], ['[\\0-\\7]', ['\x05']],
  ['(a)\\2', ['a\x02', 'a2']], ['(a)\\1', ['aa', 'a']], ['(a)\\10', ['a\x08', 'aa0']], ['\\1(a)', ['a', 'aa']], ['(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\\10', ['abcdefghijj', 'abcdefghij']], ['(a)\\08', ['a\x008']], ['[(]\\1', ['(\x01', '(']], ['(a)[\\1]', ['a\x01', 'aa']],
  ['\\a', ['a']], ['\\-', ['-']], ['\\/', ['/']], ['\\é', ['é']], ['\\😀', ['😀']], ['\\e', ['e', '\x1b']], ['\\z', ['z']], ['\\A', ['A']], ['\\Z', ['Z']], ['\\Q', ['Q']], ['\\_', ['_']], ['\\p', ['p']], ['\\P', ['P']], ['\\pL', ['pL']], ['[\\p]', ['p']], ['\\\\p{L}', ['\\p{L}']], ['\\h', ['h']],
  ['\\p{L}', ['a']], ['\\P{L}', ['a']], ['[\\p{L}]', ['a']], ['\\u{62}', ['b']], ['[\\u{62}]', ['b']], ['\\\\\\u{1}', ['a']], ['\\', ['']], ['a\\', ['']], ['[\\', ['']], ['[a\\', ['']],
  ['\\t\\n\\v\\f\\r', ['\t\n\v\f\r']], ['[\\t\\n\\v\\f\\r]', ['\v']],
  // braces as letters
  ['{', ['{']], ['}', ['}']], [']', [']']], ['a{', ['a{']], ['a{1', ['a{1']], ['a{,5}', ['a{,5}', 'aa']], ['a{1,2', ['a{1,2']], ['a{b}', ['a{b}']], ['x{}', ['x{}']], ['{a}', ['{a}']], ['{1', ['{1']], ['a{1}}', ['a}']], ['{{', ['{{']], ['a{ 1}', ['a{ 1}']], ['{,1}', ['{,1}']], ['a{2}{', ['aa{']], ['a{+', ['a{{{']],
  ['{1}', ['']], ['a|{1}', ['']], ['a{1}{2}', ['']], ['a**', ['']], ['a+*', ['']], ['a??', ['a']], ['a???', ['']], ['a{2}?', ['aaa']], ['a{1,2}??', ['']], ['*', ['']], ['+a', ['']], ['?', ['']], ['(*)', ['']], ['(?:+)', ['']], ['a|*', ['']], ['^*', ['']], ['$+', ['']], ['\\b+', ['']], ['\\B{2}', ['']], ['^{2}', ['']],
  ['a{2,1}', ['']], ['a{0}', ['a']], ['a{0,0}b', ['ab']], ['a{3}', ['aa', 'aaa', 'aaaa']], ['^a{2,3}$', ['a', 'aa', 'aaa', 'aaaa']], ['a{2,}', ['a', 'aaaa']], ['a{2,3}?', ['aaaa']], ['a{99999999999}', ['a']].slice(0, 0), ['a{0,99999999999}b', ['aaab']], ['(a{2}){2}', ['aaa', 'aaaa']], ['(?:a{0,2}){3}b', ['aaaaaab']],
  ['😀{2}', ['😀😀', '😀\ude00'.slice(0, 2)]], ['😀+', ['😀😀']], ['(?:😀){2}', ['😀😀']], ['[😀]', ['😀', '😁', '👍']], ['^[😀]$', ['😀']], ['^[😀]{2}$', ['😀', '😁']], ['[^😀]', ['😀', '😁', 'a']], ['[😀-😂]', ['😁']], ['[👍👎]', ['👍', '👎', '💩', '👐']], ['[a-😀]', ['z']],
  ['\\ud83d', ['😀', '👍', 'a']], ['\\ude00', ['😀', '😁']], ['\\ud83d\\ude00', ['😀']], ['^\\ud83d', ['😀']], ['[\\ud83d\\ude00]', ['😀']], ['[\\ud800-\\udbff][\\udc00-\\udfff]', ['x😀']], ['[\\ud83d]$', ['😀']], ['(?<=\\ud83d).', ['😀']], ['(.)\\1', ['😀😀', '😀']], ['(..)\\1', ['😀😀']], ['\\ud83d(?=\\ude00)', ['😀', '😁']], ['😀|a', ['😀']], ['(?i)𐐀', ['𐐨', '𐐀']], ['\\W{2}', ['😀']],
  // groups
  ['(', ['']], [')', ['']], ['(a', ['']], ['a)', ['']], ['(?a)', ['']], ['(?)', ['']], ['(?', ['']], ['(?:', ['']], ['(?<', ['']], ['(?<a', ['']], ['(?<a>', ['']], ['(?<>a)', ['']], ['(?<1a>a)', ['']], ['(?<a-b>a)', ['']], ['(?<a>a)(?<a>b)', ['']], ['(?<a>a)|(?<a>b)', ['']], ['(?P<a>a)', ['']], ['(?#x)', ['']], ['(?>a)', ['']], ['(?|a)', ['']], ['(?=a', ['']], ['(?i:a)', ['']], ['(?-i)a', ['']], ['(?i-m:a)', ['']], ['(?x)a', ['']], ['(?u)a', ['']], ['a(?i)', ['']], ['(?im', ['']], ['(?U)a', ['']], ['(?g)a', ['']],
  ['()', ['']], ['(|a)', ['a']], ['(a|)', ['a']], ['|', ['']], ['a||b', ['b']], ['(?:|a)+', ['aaa']], ['(?:)*', ['']], ['(?:)+a', ['a']],
  ['(?<n>a)\\k<n>', ['aa', 'a']], ['\\k<n>(?<n>a)', ['a']], ['\\k', ['k']], ['\\k<n>', ['k<n>']], ['(?<n>a)\\k', ['']], ['(?<n>a)\\k<m>', ['']], ['(?<n>a)\\k<n', ['']], ['(?<n>a)[\\k]', ['k']], ['[\\k]', ['k']], ['(a)\\k<a>', ['ak<a>']], ['(?<$_1>a)\\k<$_1>', ['aa']], ['(?<é>a)\\k<é>', ['aa']], ['(?<\\u0061>a)\\k<a>', ['aa']], ['(?<a>a)\\k<\\u0061>', ['aa']], ['(?<𝒜>.)\\k<𝒜>', ['aa']], ['(?<\\ud835\\udc9c>.)\\k<𝒜>', ['aa']], ['(?<a\u200d>.)', ['a']], ['(?<😀>.)', ['a']], ['(?<a b>.)', ['']], ['\\k<a>|(?<=a)', ['k<a>']], ['(?<a>.)(?<b>.)\\k<b>\\k<a>', ['abba']], ['[(?<a>]\\k<a>', ['(k<a>']], ['\\(?<a>\\k<a>', ['(<a>k<a>']],
  // lookaround
  ['(?=a)*', ['b', 'a']], ['(?=a)+b', ['b']], ['(?!a){2}b', ['b']], ['(?=a)?b', ['b']], ['(?<=a)*', ['']], ['(?<!a)+', ['']], ['(?<=a){2}', ['']], ['(?<=a)?', ['']], ['(?=(a))?\\1b', ['ab', 'b', 'aab']], ['(?=(a)){1}\\1b', ['ab', 'aab', 'b']], ['(?=(a)){0,1}\\1b', ['ab', 'aab', 'b']],
  ['(?=a)b|c', ['bc']], ['(?!a)', ['a', '']], ['(?!)', ['a']], ['(?=)', ['']], ['(?<!)', ['']], ['(?<=)', ['']], ['a(?=b)', ['ac ab']], ['a(?!b)', ['ab ac']], ['(?<=a)b', ['cb ab']], ['(?<!a)b', ['ab cb']], ['(?<=^a)b', ['ab']], ['(?<=a$)', ['ba']], ['(?=.*b)a', ['acb']], ['^(?=.*\\d)(?=.*[a-z]).{4,}$', ['ab12', 'abcd', '1234']],
  ['(?<=([ab]+)([bc]+))$', ['abc']], ['(?<=([ab]+)([bc]+))\\1$', ['abca', 'abcb']], ['(?<=(\\w){3})f', ['abcdef']], ['(?<=(\\w){3})\\1', ['abca', 'abcb']], ['(?<=\\1(\\w))d', ['abcCd', 'abbd', 'abcd']], ['(?<=(.)\\1)b', ['aab', 'abb', 'ccb']], ['(?<=(?:\\1b)(aa))', ['aabaax', 'aaxbaa']], ['(?<=(?:(a)|b)+)\\1c', ['abac', 'babc']], ['(?<!(^|[ab])\\w{2})c', ['abc', 'xbc']], ['(?<=a(?=([^a]{2})d)\\w{3})\\w\\1', ['abcdcdbc']], ['(?<=a(.\\2)b(\\1)).{4}', ['aabcacbc']], ['(?<=$)', ['a']], ['(?<=\\b)a', ['!a', 'ba']], ['(?<=a|bc)d', ['bcd', 'ad', 'cd']], ['(?<=a.*)b', ['a\nb', 'axxb']], ['(?<=(?<a>\\w){3})f', ['abcdef']], ['(?<=a{2,3})b', ['ab', 'aab']], ['(?<!a{2,})b', ['ab', 'aab']],
  ['(?=(a+))a*b\\1', ['baaabac']], ['(?=(a+))', ['baaabac']], ['(.*?)a(?!(a+)b\\2c)\\2(.*)', ['baaabaac']], ['(?!(a))\\1b', ['b', 'ab']], ['(?=(?!(a))b)\\1b', ['b']], ['(?!(?=(a)))\\1b', ['b']], ['(?:(?=(a+))\\1)+b', ['aaab']], ['(?=(a+))\\1a', ['aaa']], ['(?=(a*?))\\1b', ['aab']], ['(?<=(a+?))\\1b', ['aaab']], ['(?=(a|ab))\\1c', ['abc']], ['((?=(a))b|a)\\2c', ['ac']], ['(?:(?=(a))a|b)*\\1c', ['abc', 'bac']],
  ['(a|b)(?!\\1).', ['ab', 'aa', 'aab']], ['(\\w)(?!.*\\1)', ['abab', 'abcab', '']], ['^(?:(\\w)(?!.*\\1))+$', ['abc', 'abca']], ['(a|b)(?<!\\1\\1)c', ['aac', 'abc', 'bbc']], ['(a|b)+(?<!b\\1)c', ['abbc', 'aabac', 'bac']], ['(\\w)(?=.*\\1)', ['abcb', 'abc']], ['(?:(\\w)(?!\\1))+$', ['abba', 'abab']], ['(\\w+)(?! \\1) \\w+', ['the the', 'the them', 'so what']], ['(?<!(.)\\1)b', ['aab', 'acb', 'b']], ['(.)(?!(?!\\1))', ['ab', 'abb']], ['(.)(?!(?=\\1)b)b', ['bb', 'ab']], ['(?!(.)(?!\\1)).', ['ab', 'abb']],
  // captures and loops
  ['(?:(a)|b)*\\1$', ['ab', 'aba', 'abaa']], ['(z)((a+)?(b+)?(c))*', ['zaacbbbcac']], ['(z)((a+)?(b+)?(c))*\\3$', ['zaacbbbcac', 'zaacbbbcaca']], ['(a*)*', ['b', 'aab']], ['(a*)*\\1b', ['aab']], ['(?:a*?)*?b', ['aab']], ['(a?)*?\\1b', ['aab']], ['(a*){2,3}\\1b', ['aab']], ['(?:a?){3}$', ['aaaa']], ['(?:a?b??)*', ['ab', 'abab']], ['(?:a?b??)*?c', ['ababc']], ['(a?b??)*', ['ab']], ['(?:a|()b?)*c', ['abc']], ['((a)|b)*?\\2c', ['abac']], ['(\\2b)(\\1a)', ['ba']], ['(a\\1)', ['a']], ['(a\\1b)+', ['abab']], ['((\\1)a)+', ['aa']], ['(?:(x)|(y))\\1\\2', ['xx', 'yy', 'x', 'xy']], ['(a)|b\\1', ['b']], ['(?:(a)|(b)|(c))+\\1', ['abc', 'abca', 'aa']], ['^(?:b|(a))*\\1$', ['ab', 'abab', 'aba']], ['(a|ab)(c|bcd)(d*)', ['abcd']], ['(a|ab)(bcd|c)(d*)\\3', ['abcd']], ['a*?$', ['aab']], ['(a+|b+)*?c', ['aabbc']], ['(?:a+)+?b', ['aaab']], ['(a+)\\1', ['aaaaa']], ['(a+?)\\1', ['aaaaa']], ['^(a+)\\1$', ['aaaa', 'aaaaa']], ['^(aa+)\\1+$', ['aaaaaaa', 'aaaaaaaa', 'aaaaaaaaa']], ['(\\w+)\\s\\1', ['the the', 'the then', 'he the']], ['(["\']).*?\\1', ['say "it\'s"', 'say "it\'s']], ['(?i)(a)\\1', ['aA']], ['(?i)(σ)\\1', ['σς']], ['(?i)(ſ)\\1', ['ſs', 'ſſ']], ['(?i)(k)\\1', ['kK']],
  ['x{0,2}x{0,2}y', ['xxxxy', 'xxxxxy']], ['(?:ab|cd)\\d?', ['aabb cd5']], ['(?:(?:a|b)c?)+?d', ['abcacd']], ['(?:){0}a', ['a']], ['(a){0}\\1b', ['b']], ['(?:a{0,1}){0,1}b', ['aab']], ['(?:(?=a)){3}a', ['a']], ['(?:\\b){2}a', ['a']], ['(?:^)*a', ['ba']], ['(?:^a)*b', ['ab', 'aab']], ['(?:$)+', ['a']], ['((?:))*a\\1', ['a']], ['(?:a|b|c|d|e)+f', ['abcdef']],
  // case
  ['(?i)ſ', ['s', 'S', 'ſ']], ['(?i)s', ['ſ']], ['(?i)\\u212a', ['k', 'K', 'K']], ['(?i)k', ['K']], ['(?i)ß', ['ẞ', 'SS', 'ß']], ['(?i)ẞ', ['ß']], ['(?i)İ', ['i', 'İ', 'i̇']], ['(?i)ı', ['I', 'i', 'ı']], ['(?i)i', ['İ', 'ı']], ['(?i)σ', ['ς', 'Σ']], ['(?i)ς', ['σ', 'Σ']], ['(?i)µ', ['μ', 'Μ', 'µ']], ['(?i)å', ['Å', 'Å']], ['(?i)Ω', ['ω', 'Ω']], ['(?i)Ω', ['ω']], ['(?i)ÿ', ['Ÿ']], ['(?i)ǆ', ['ǅ', 'Ǆ']], ['(?i)ᾳ', ['ᾼ', 'ΑΙ']], ['(?i)ŉ', ['ʼN']], ['(?i)ﬁ', ['FI', 'fi']], ['(?i)ΐ', ['ΐ']], ['(?i)ᲀ', ['в', 'В']], ['(?i)ѣ', ['ᲇ']], ['(?i)Ⴀ', ['ა', 'ⴀ']], ['(?i)ა', ['Ა']], ['(?i)Ꭰ', ['ꭰ']], ['(?i)θ', ['ϴ', 'ϑ']], ['(?i)é', ['É']], ['(?i)я', ['Я']], ['(?i)ⅷ', ['Ⅷ']], ['(?i)ⓐ', ['Ⓐ']], ['(?i)ａ', ['Ａ']], ['(?i)ɐ', ['Ɐ']],
  ['(?i)[a-z]', ['K', 'ſ', 'Q']], ['(?i)[^a-z]', ['K', 'ſ', 'Q', 'q']], ['(?i)[Z-a]', ['z', 'A', 'b', '_']], ['(?i)\\w', ['ſ', 'K']], ['(?i)\\W', ['ſ', 'K', 's', 'k']], ['(?i)[^\\W]', ['ſ', 's']], ['(?i)[\\W]', ['s']], ['(?i)[^\\w]', ['ſ']], ['(?i)[à-þ]', ['À', '×', '÷']], ['(?i)[σ]', ['ς']], ['(?i)[^σ]', ['ς', 'Σ']], ['(?i)\\x61', ['A']], ['(?i)\\cA', ['\x01']], ['(?i)[\\u0390-\\u03ff]', ['µ', 'ι', '\u0345', '\u1fbe']], ['(?i)\\u0345', ['ι', 'Ι']], ['(?i)[_-`]', ['_']], ['(?i)[@-[]', ['a', '{']],
];
for (const [pattern, texts] of picked.filter((entry) => entry.length)) for (const text of texts) write(pattern, text);

// Letters that are the same with the i flag, in both directions, some dozens a line.
const escaped = (letter) => '\\u' + letter.charCodeAt(0).toString(16).padStart(4, '0');
const pairs = [];
for (let unit = 0x80; unit < 0x10000; unit++) {
  if (unit >= 0xd800 && unit < 0xe000) continue;
  const letter = String.fromCharCode(unit);
  for (const other of new Set([letter.toUpperCase(), letter.toLowerCase(), letter.toUpperCase().toLowerCase()])) {
    if (other.length !== 1 || other === letter) continue;
    if (new RegExp('^' + escaped(letter) + '$', 'i').test(other)) pairs.push([letter, other]);
    else if (count) write('(?i)' + letter, other);
  }
}
if (count) for (let at = 0; at < pairs.length; at += 48) {
  const some = pairs.slice(at, at + 48);
  write('(?i)^' + some.map(([letter]) => letter).join('') + '$', some.map(([, other]) => other).join(''));
  write('(?i)^[' + some.map(([letter]) => letter).join('') + ']+$', some.map(([, other]) => other).join(''));
}

// ---- random cases ----

const units = ['a', 'b', 'c', 'a', 'b', 'A', 'B', '1', '2', ' ', '_', '-', 'é', 'É', '\n', '\r', '\u2028', '😀', '👍', 'k', 's', 'ſ', 'K', 'ß', 'σ', 'ς', '{', '}', ']', ','];
const plain = (wide) => (wide ? pick(units) : pick(['a', 'b', 'c', 'a', 'b']));
const literal = (letter) => letter.replace(/[\\^$.*+?()[\]{}|]/g, chance(80) ? '\\$&' : '$&');

function escape() {
  return pick([
    () => '\\' + pick([...'dDsSwWbBdDsSwWbBtnrfv']),
    () => '\\' + pick([...'0123456789']) + pick(['', '', '1', '7', '8', '01']),
    () => '\\x' + pick(['61', '62', '4', '', 'e9', '6g']),
    () => '\\u' + pick(['0061', '0062', 'd83d', 'de00', '00e9', '', '006', '{61}']),
    () => '\\c' + pick(['A', 'j', '1', '_', '', '*', 'é']),
    () => '\\' + pick([...'kpPaeghijlmoqyzACEFGHIJKLMNOQRTUVXYZ-/_!😀é'].slice(0, 60)),
    () => '\\k<' + pick(['n', 'm', 'x']) + pick(['>', '>', '']),
    () => '\\' + pick([...'^$.*+?()[]{}|\\/']),
  ])();
}
function classItem(wide) {
  const one = () => (chance(25) ? escape() : pick([...'abcz09_.^-[(', ...(wide ? ['é', '😀', 'ſ', 'σ', '\n'] : [])]));
  if (chance(25)) return pick(['a-c', 'b-z', '0-9', 'A-Z', 'a-b', '\\d-z', 'a-\\w', '--a', '\u00e0-\u00fe', 'Z-a', '\\u0061-\\u0063', '😀-😂', 'c-a']);
  return one();
}
function atom(depth, wide) {
  const kind = random(100);
  if (depth <= 0 || kind < 45) return literal(plain(wide));
  if (kind < 52) return '.';
  if (kind < 60) return '[' + (chance(35) ? '^' : '') + times(random(4), () => classItem(wide)).join('') + ']';
  if (kind < 68) return escape();
  if (kind < 73) return '\\' + (1 + random(3));
  if (kind < 77) return pick(['^', '$', '\\b', '\\B']);
  const open = pick(['(', '(', '(', '(?:', '(?:', '(?=', '(?!', '(?<=', '(?<!', '(?<n>', '(?<m>']);
  return open + choice(depth - 1, wide) + ')';
}
function quantifier() {
  const q = pick(['*', '+', '?', '*', '+', '?', '{2}', '{1,2}', '{0,2}', '{1,}', '{0}', '{2,3}', '{,2}', '{2', '{1,0}', '{3,}']);
  return q + (chance(30) ? '?' : '') + (chance(2) ? '+' : '');
}
const term = (depth, wide) => atom(depth, wide) + (chance(40) ? quantifier() : '');
const branch = (depth, wide) => times(chance(6) ? 0 : 1 + random(3), () => term(depth, wide)).join('');
const choice = (depth, wide) => times(chance(25) ? 2 + random(2) : 1, () => branch(depth, wide)).join('|');

function mutated(pattern) {
  const letters = [...pattern];
  const at = random(letters.length + 1);
  const junk = pick(['(', ')', '[', ']', '{', '}', '?', '*', '+', '\\', '|', '(?', '(?<', '(?i)', '(?:', '{1}', '\\k', '\\c', '\\1', '-', '^', '$', ',', '<n>', '=', '!', '\\u', '\\x', '\\p']);
  letters.splice(at, random(3), ...(chance(70) ? [junk] : []));
  return letters.join('');
}

// Patterns in which much is remembered and referred to, from lookarounds too.
function referring() {
  const groups = 1 + random(3);
  const reference = () => '\\' + (1 + random(groups));
  const piece = () => pick([() => pick([...'abc.']), () => pick([...'abc.']), reference, () => '[ab]'])() + (chance(30) ? pick(['*', '+', '?', '{2}', '*?', '+?']) : '');
  const pieces = (n) => times(1 + random(n), piece).join('');
  const look = () => pick(['(?=', '(?!', '(?!', '(?<=', '(?<!', '(?<!']) + (chance(20) ? pieces(2) + '|' : '') + pieces(2) + ')';
  const parts = times(groups, () => '(' + (chance(30) ? pieces(1) + '|' : '') + (chance(15) ? look() : '') + pieces(2) + ')' + (chance(25) ? pick(['*', '+', '?', '*?']) : ''));
  for (let n = 1 + random(3); n > 0; n--) parts.splice(random(parts.length + 1), 0, chance(55) ? look() : reference());
  const text = parts.join('');
  return chance(25) ? '(?:' + text + ')' + pick(['*', '+', '{2}']) + pick(['', 'c', '$']) : text;
}

let written = 0;
while (written < count) {
  const wide = chance(40);
  let pattern = chance(25) ? referring() : choice(1 + random(4), wide);
  if (pattern.length > 40) continue;
  if (chance(15)) pattern = mutated(pattern);
  if (chance(30)) pattern = pick(['(?i)', '(?m)', '(?s)', '(?i)', '(?im)', '(?s)(?i)', '(?msi)']) + pattern;
  if (chance(25)) pattern = pattern.replace(/^((?:\(\?[ims]+\))*)(.*)$/s, (_, flags, rest) => flags + pick(['^', '^', '']) + rest + pick(['$', '$', '']));
  for (const _ of [1, 2]) {
    const text = times(random(chance(30) ? 14 : 8), () => plain(wide)).join('');
    // Not too many matches at the very start, which say little, and as many matches as misses.
    const filter = (line) => {
      if (line.error) return chance(line.error === 'syntax' ? 25 : 60);
      if (line.match && line.index === 0 && line.end === 0 && chance(85)) return false;
      if (balance[line.match] > balance[!line.match] + 50) return false;
      balance[line.match] += 1;
      return true;
    };
    if (write(pattern, text, filter)) written += 1;
  }
}
