// Renders templates with liquidjs and writes what it printed, one case a line.
//
//   npm install && node generate.mjs [RANDOM_CASES [SEED [FILE [SPECIAL_CASES_OF_A_KIND]]]]
//
// A case is {template, variables, messages?, now?} with `output`, `error`, or `lone: true` where the output
// holds half a surrogate pair. Variables that the template cannot name are left out. `last` with an
// argument, `sample`, `include`, `render`, `layout`, `block` and unknown filters are not generated: there we
// depart.
process.env.TZ = 'UTC';
import { writeFileSync } from 'node:fs';
import { Liquid } from 'liquidjs';
import { bare, data, messages as talk, picked, pickedSeveral } from './picked.mjs';
import { special } from './special.mjs';

const [randomCases = '2400', seed = '20260615', file = '../../conformance/liquid.jsonl', specialCases = '110'] = process.argv.slice(2);
const NOW = Date.UTC(2026, 5, 15, 10, 30, 5, 678);
// The limit changes nothing but that a template which would take all memory fails; such are left out.
const liquid = new Liquid({ memoryLimit: 1e6 });
if (liquid.options.locale !== 'en-US' || new Date().getTimezoneOffset() !== 0) throw new Error('run with LANG=en_US and TZ=UTC');
const strict = new Liquid({ memoryLimit: 1e6, strictFilters: true });
Date.now = () => NOW;

let state = Number(seed) >>> 0;
const random = () => {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const chance = (p) => random() < p;
const times = (n, make) => Array.from({ length: n }, make);

const texts = ['', ' ', 'a', 'abc', 'Hello World', 'hello', '  padded  ', 'a,b,,c', 'x=1&y=2', 'ÄÖÜ ß', 'naïve café', '😀 smile', '你好世界', 'ΣΑΣ', '42', '-7.5', '0', '1e3', '0x1f', 'true', 'nil', 'line one\nline two\r\nthree', '<b>bold</b> & "q"', 'I want a refund, please!', 'a-b_c d', "it's", '2026-06-15', '2024-02-29T23:59:59Z', 'March 3, 2021 4:05 PM', 'tab\there', 'ﬁ ligature', '\u00a0nbsp\u3000', 'ǅ', 'aaa', 'a b c d e f', '[1, 2]', '%41%20', 'SGk=', 'toString', 'size'];
const numbers = [0, 1, 2, 3, -1, -4, 7, 10, 0.5, 2.5, -2.5, 1.005, 100, 1e21, 1e-7, 123456789, 1718447405, 9007199254740993, 0.1, 3.999, -0.5, 12.345];
const names = ['a', 'b', 'n', 'm', 's', 't', 'xs', 'ys', 'os', 'o', 'q'];
const fields = ['name', 'age', 'role', 'tags', 'ok', 'a', 'b', 'size', 'x y', '0', 'first', 'length'];
const scalar = () => pick([() => pick(texts), () => pick(texts), () => pick(numbers), () => pick(numbers), () => chance(0.5), () => null])();
const array = (depth) => pick([() => times(below(5), () => pick(numbers)), () => times(below(5), () => pick(texts)), () => times(below(5), scalar), () => times(below(4), () => value(depth + 1)), () => times(below(4), () => object(depth + 1))])();
const object = (depth) => Object.fromEntries(times(below(5), () => [pick(fields), depth > 2 ? scalar() : value(depth + 1)]));
const value = (depth) => (depth > 2 || chance(0.6) ? scalar() : chance(0.6) ? array(depth) : object(depth));
const people = () => times(below(6), () => ({ name: pick(texts), age: pick(numbers), ok: chance(0.5), tags: array(2), ...(chance(0.3) ? { role: pick(['user', 'assistant']) } : {}) }));
const chat = () => times(below(6), () => ({ role: pick(['user', 'assistant', 'system', 'tool']), content: pick(texts) }));
const variables = () => ({ a: value(0), b: value(0), n: pick(numbers.filter((n) => n < 1e3)), m: pick(numbers.filter((n) => n < 1e3)), s: pick(texts), t: pick(texts), xs: array(0), ys: array(1), os: people(), o: object(0), q: scalar() });

const quote = (text) => {
  const mark = text.includes('"') ? "'" : '"';
  if (text.includes(mark)) return 's';
  return mark + text.replace(/\\/g, '\\\\').replace(/\r/g, '\\r') + mark;
};
const path = () => {
  const name = chance(0.12) ? 'messages' : pick(names);
  const step = () => pick([() => '', () => '', () => '.' + pick(['size', 'first', 'last', 'name', 'age', 'role', 'content', 'tags', 'length', 'a', 'b', 'nope']), () => `[${pick(['0', '-1', '1', 'n', '"name"', 's', 'm', '"size"'])}]`])();
  return name + step() + step();
};
const literal = () => pick([() => quote(pick(texts)), () => quote(pick(texts)), () => String(pick([0, 1, 2, 3, -1, 5, 10, 1.5, -2.5, 100])), () => pick(['true', 'false', 'nil', 'empty', 'blank']), () => `(${below(4)}..${pick([below(7), 'n', 'xs.size'].filter((end) => end !== 'n' || true))})`])();
const operand = () => (chance(0.6) ? path() : literal());
const compare = () => `${operand()} ${pick(['==', '!=', '<', '>', '<=', '>=', 'contains'])} ${operand()}`;
const condition = () => pick([operand, compare, compare, () => `${compare()} ${pick(['and', 'or'])} ${compare()}`, () => `${operand()} ${pick(['and', 'or'])} ${compare()} ${pick(['and', 'or'])} ${operand()}`, () => `not ${operand()}`])();
const small = () => pick(['0', '1', '2', '3', '-1', '-2', '5', 'n', '"2"', '1.5', 'm']);
const words = () => quote(pick(['a', 'l', ' ', ',', 'o', 'ab', '', 'World', '-', 'ß', '😀', 'e', 'x']));
const field = () => quote(pick(['name', 'age', 'ok', 'role', 'content', 'tags', 'size', 'tags.size', 'tags[0]', 'a', 'b', '0', 'nope', 'name.first', '']));
const expression = () => quote(pick(['x.age > 1', 'x.name == s', 'x', 'x.ok', 'x == 2', 'x | size', 'x.name contains t', 'x.ok and n > 1', 'n', 'x.tags.size', 'x.role == "user"', 'size', 'x > m', 'x.name | downcase']).replaceAll('"', "'"));
const formats = ['%Y-%m-%d', '%H:%M:%S', '%A %d %B', '%-d/%-m/%y', '%j %U %W', '%s', '%I:%M %p', '%c', '%x %X', '%Z %z', '%^a %5d %_m', '%L %N %3N', '%e %k %l', '%q %C %u %w', 'x%', '%Q%%'];
const zones = ['"America/New_York"', '"Asia/Tokyo"', '"Europe/Berlin"', '120', '-330', '"UTC"', 'nil', '"Bad/Zone"', '"Australia/Sydney"'];
const shaped = {
  append: [operand], prepend: [operand], at_least: [small], at_most: [small], concat: [path], date: [() => quote(pick(formats)), null, () => pick(zones)], date_to_string: [null, () => '"ordinal"', null, () => '"US"'], date_to_long_string: [null, () => '"ordinal"'],
  default: [operand, null, () => 'allow_false: true'], divided_by: [small, null, () => 'true'], find: [field, null, operand], find_index: [field, null, operand], group_by: [field], has: [field, null, operand], hmac_sha256: [words], join: [null, words], json: [null, () => pick(['2', '"-"'])], last: [], lstrip: [null, words], map: [field], minus: [small], modulo: [small],
  number_of_words: [null, () => pick(['"cjk"', '"auto"'])], plus: [small], push: [operand], reject: [field, null, operand], remove: [words], remove_first: [words], remove_last: [words], replace: [words, words], replace_first: [words, words], replace_last: [words, words], round: [null, small], rstrip: [null, words], slice: [small, null, small], slugify: [null, () => pick(['"raw"', '"pretty"', '"ascii"', '"latin"', '"none"', '"default"'])], sort: [null, field], sort_natural: [null, field], split: [words], strip: [null, words], sum: [null, field], times: [small], truncate: [small, null, words], truncatewords: [small, null, words], unshift: [operand], where: [field, null, operand],
  where_exp: [() => '"x"', expression], reject_exp: [() => '"x"', expression], group_by_exp: [() => '"x"', expression], has_exp: [() => '"x"', expression], find_exp: [() => '"x"', expression], find_index_exp: [() => '"x"', expression], array_to_sentence_string: [null, words],
};
const all = [...new Set([...bare, ...Object.keys(shaped)])];
// `null` in a shape: what follows may be left out.
const filter = () => {
  const name = pick(all);
  const given = [];
  if (name !== 'last') {
    if (chance(0.12)) given.push(...times(below(3), operand));
    else for (const make of shaped[name] ?? []) {
      if (make) given.push(make());
      else if (chance(0.5)) break;
    }
  }
  return ` | ${name}${given.length ? ': ' + given.join(', ') : ''}`;
};
const chain = () => operand() + times(pick([0, 1, 1, 1, 2, 2, 3]), filter).join('');
const typed = () => (chance(0.35) ? `${chain()} | json` : chain());
const dash = () => (chance(0.08) ? '-' : '');
const tag = (body) => `{%${dash()} ${body} ${dash()}%}`;
const output = () => `{{${dash()} ${typed()} ${dash()}}}`;
const loopArgs = () => pick(['', '', '', ` limit: ${small()}`, ` offset: ${small()}`, ' reversed', ` limit: ${small()} offset: ${small()}`, ' offset: continue', ` limit: 1 offset: continue`]);
const loopBody = () => pick([() => '{{ x }}', () => '{{ x | json }}', () => '{{ forloop.index }}{{ x.name }}', () => tag('cycle "a", "b"'), () => `${tag(`if ${compare()}`)}${tag(pick(['break', 'continue']))}${tag('endif')}{{ x }}`, () => '{{ forloop.rindex0 }}{{ forloop.last }}', () => `{{ x${filter()} }}`, () => body(2)])();
const collection = () => pick([() => pick(['xs', 'ys', 'os', 'o', 's', 'messages']), path, () => `(1..${below(5)})`, () => `(${pick(['n', '0'])}..xs.size)`])();
const body = (depth) => times(1 + below(2), () => piece(depth)).join(pick(['', ' ', '\n', '-']));
const piece = (depth = 0) => pick(depth > 2 ? [output, () => pick(texts)] : [
  output, output, output, output, () => pick(['text', ' \n', 'a b ', '{ %', '}} ']),
  () => `${tag(`assign ${pick(names)} = ${typed()}`)}${output()}`, () => tag(`assign ${pick(names)} = ${condition()}`) + '{{ a }}{{ s }}',
  () => `${tag(`if ${condition()}`)}${body(depth + 1)}${chance(0.4) ? tag(`elsif ${condition()}`) + body(depth + 1) : ''}${chance(0.5) ? tag('else') + body(depth + 1) : ''}${tag('endif')}`,
  () => `${tag(`unless ${condition()}`)}${body(depth + 1)}${chance(0.5) ? tag('else') + body(depth + 1) : ''}${tag('endunless')}`,
  () => `${tag(`case ${operand()}`)}${times(1 + below(3), () => tag(`when ${operand()}${chance(0.4) ? pick([', ', ' or ']) + operand() : ''}`) + body(depth + 1)).join('')}${chance(0.5) ? tag('else') + body(depth + 1) : ''}${tag('endcase')}`,
  () => `${tag(`for x in ${collection()}${loopArgs()}`)}${loopBody()}${chance(0.2) ? tag('else') + 'none' : ''}${tag('endfor')}`,
  () => `${tag(`tablerow x in ${collection()}${pick(['', ` cols: ${small()}`, ` cols: 2 limit: ${small()}`, ` offset: ${small()}`])}`)}${pick(['{{ x }}', '{{ tablerowloop.col }}{{ tablerowloop.row }}', '{{ tablerowloop.col_last }}{{ x }}'])}${tag('endtablerow')}`,
  () => `${tag('capture c')}${body(depth + 1)}${tag('endcapture')}{{ c | size }}{{ c | strip }}`, () => tag(`${pick(['increment', 'decrement'])} ${pick(['n', 'c', 's'])}`) + '{{ n }}', () => tag(`echo ${typed()}`), () => `${tag('comment')}${body(depth + 1)}${tag('endcomment')}`, () => `${tag('raw')}${body(depth + 1)}${tag('endraw')}`,
  () => `{% liquid\n${times(1 + below(3), () => pick([() => `echo ${typed().replace(/\n/g, ' ')}`, () => `assign ${pick(names)} = ${typed().replace(/\n/g, ' ')}`, () => `if ${condition().replace(/\n/g, ' ')}\n echo "yes"\n else\n echo "no"\n endif`, () => `for x in ${collection()}\n echo x\n endfor`, () => '# note'])()).join('\n')}\n%}`,
  () => `${tag(`cycle ${pick(['', 'g: ', 's: '])}${operand()}, ${operand()}`)}`, () => tag('# note'),
])();
const noise = ['{', '}', '%', '|', ':', ',', '.', '(', ')', '[', ']', "'", '"', '-', ' ', '\n', '=', '<', '!', '#', '{{', '}}', '{%', '%}', '-%}', 'or ', 'and ', 'not ', '..', '\\', '?', '1', 'x'];
const disturb = (template) => {
  let changed = template;
  for (let left = 1 + below(3); left > 0; left--) {
    const at = below(changed.length + 1);
    changed = pick([() => changed.slice(0, at) + pick(noise) + changed.slice(at), () => changed.slice(0, at) + changed.slice(at + 1), () => changed.slice(0, at) + pick(noise) + changed.slice(at + 1)])();
  }
  return changed;
};

const departs = /\b(sample|include|render|layout|block)\b|last\s*:|last\s*"?:/;
const isLone = (text) => !text.isWellFormed();
const render = ({ template, variables, messages }, engine = liquid) => {
  try {
    const scope = JSON.parse(JSON.stringify({ ...variables, ...(messages ? { messages } : {}), now: NOW }));
    return { output: engine.parseAndRenderSync(template, scope) };
  } catch (error) {
    return { error: String(error.message).split('\n')[0].slice(0, 60) };
  }
};
const lines = [];
const seen = new Set();
const counts = { output: 0, error: 0, lone: 0 };
const record = ({ template, variables, messages }, limit) => {
  if (seen.has(template) || departs.test(template) || isLone(template)) return false;
  const named = (name) => template.includes(name);
  const result = { template, variables: Object.fromEntries(Object.entries(variables ?? {}).filter(([name]) => named(name))) };
  if (named('messages') && messages) result.messages = messages;
  if (/now|today/.test(template)) result.now = NOW;
  let outcome = render(result);
  if (/undefined filter/.test(render(result, strict).error)) return false;
  if (outcome.output !== undefined && isLone(outcome.output)) outcome = { lone: true };
  // An error that quotes the template's own words may hold half a pair as well.
  if (outcome.error !== undefined && isLone(outcome.error)) outcome = { error: 'error' };
  const line = JSON.stringify({ ...result, ...outcome });
  if (/memory alloc/.test(outcome.error) || line.length > limit || /[\\]ud[89a-f]/i.test(JSON.stringify(outcome))) return false;
  seen.add(template);
  counts[Object.keys(outcome)[0]]++;
  lines.push(line);
  return true;
};

for (const one of picked) record(one, 4000);
// For each filter: the inputs it takes joined into few templates, those it fails on apart.
const groups = new Map();
for (const one of pickedSeveral) {
  const outcome = render(one);
  if (outcome.error !== undefined || isLone(outcome.output)) record(one, 4000);
  else groups.set(one.name, [...(groups.get(one.name) ?? []), one.template]);
}
for (const templates of groups.values()) {
  for (let at = 0; at < templates.length; at += 6) record({ template: templates.slice(at, at + 6).join('|'), variables: data, messages: talk }, 6000);
}
const chosen = lines.length;
let errors = 0;
for (let made = 0; made < Number(randomCases); ) {
  let template = body(0);
  const disturbed = chance(0.2);
  if (disturbed) template = disturb(template);
  if (template.length > 300) continue;
  const one = { template, variables: variables(), messages: chat() };
  // Half of the disturbed templates fail to parse; few of them are enough.
  if (render(one).error !== undefined && errors > made * 0.12) continue;
  const before = counts.error;
  if (record(one, 900)) {
    made++;
    errors += counts.error - before;
  }
}
const withRandom = lines.length;
for (const make of Object.values(special({ below, pick, chance, times, random }))) {
  let failing = 0;
  for (let made = 0; made < Number(specialCases); ) {
    const one = make();
    if (render(one).error !== undefined && failing > made * 0.2) continue;
    const before = counts.error;
    seen.delete(one.template);
    if (record(one, 900)) {
      made++;
      failing += counts.error - before;
    }
  }
}
const together = lines.join('\n');
for (const name of Object.keys(liquid.filters)) {
  if (name !== 'sample' && together.split(new RegExp(`\\| ${name}\\b`)).length < 10) throw new Error(`the filter ${name} is hardly used`);
}
for (const name of Object.keys(liquid.tags)) {
  if (!departs.test(name) && together.split(new RegExp(`(%-?|\\\\n) *${name}( |%|-|\\\\n)`)).length < 10) throw new Error(`the tag ${name} is hardly used`);
}
writeFileSync(new URL(file, import.meta.url), together + '\n');
console.log(`${chosen} picked, ${withRandom - chosen} random, ${lines.length - withRandom} special, ${JSON.stringify(counts)}, ${together.length} characters`);
