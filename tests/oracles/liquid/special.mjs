// Cases for the parts where JavaScript itself has the word: dates, zones, numbers, sorting, letters, and
// templates of random tokens.
const dateParts = [
  '2026', '26', '6', '06', '15', '31', '32', '0', '00', '99', '100', '2026-06-15', '2024-02-30', 'T', 'T10:30',
  '10:30', '10:30:05', '10:30:05.123', '10:30:05.12345', '24:00', '24:01', '12:00', '13:00', '1:2:3', '10::30',
  'Z', 'z', '+', '-', '+02:00', '-0530', '+2', '+12345', '+5:30', 'GMT', 'UTC', 'EST', 'PDT', 'ut', 'AM', 'pm',
  'PM', 'am', 'Jun', 'June', 'Junk', 'march', 'Mai', 'Dec', 'Monday', 'Mon', 'hello', 'x', '(comment)', '(a(b)c)',
  '(', '))', ')', ',', '/', '.', ':', ';', '\u00a0', '\u202f', '\t', '\n', 'é', '1781519405', '+002026', '-000001',
  '-000000', '+002026-06-15T00:00Z', '123456', '.5', '5.', '5.5', '10:', '10:30.5', '12345678901', '٣', '"', "'",
  '1e5', 'T25:00', 'T10', 'T10:60', 'T10:30Z', 'T10:30:05+0530', 'T10:30:05.5-05:00', 'T24:00:00', 'T24:00:01',
  'T1030', '2026-6-5', '2026-06', '2026-06-15 10:30', '6/15/2026', '15-Jun-2026', 'Jun-15-2026', '2026/06/15',
  'Sat, 15 Jun 2026 10:30:05 GMT',
];
const tokens = [
  '{{', '}}', '{%', '%}', '{%-', '-%}', '{{-', '-}}', ' ', ' ', ' ', '\n', 'a', 'b', 's', 'xs', 'o', 'n', '"q"',
  "'r'", '1', '2.5', '-3', '.', '..', '[', ']', '(', ')', '(1..3)', '|', ':', ',', '=', '==', '!=', '<', '>', '>=',
  'contains', 'and', 'or', 'not', 'nil', 'empty', 'blank', 'true', 'false', 'if', 'endif', 'else', 'elsif',
  'unless', 'endunless', 'for', 'in', 'endfor', 'case', 'when', 'endcase', 'assign', 'capture', 'endcapture',
  'cycle', 'increment', 'decrement', 'echo', 'liquid', 'raw', 'endraw', 'comment', 'endcomment', '#', 'break',
  'continue', 'limit:1', 'offset:1', 'reversed', 'offset:continue', 'tablerow', 'endtablerow', 'cols:2', 'x',
  'upcase', 'size', 'append:', 'join', 'first', 'default:', 'plus:', 'slice:', 'json', '.size', '.first',
  'forloop', 'forloop.index', '"', '\'', '\\', '-', '?', '_', 'é',
];
// Not those whose clocks newer versions of the time zone database change.
const zones = ['America/New_York', 'America/Sao_Paulo', 'America/St_Johns', 'America/Los_Angeles', 'Asia/Kolkata', 'Asia/Tokyo', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Europe/Berlin', 'Europe/Dublin', 'Europe/Kyiv', 'Pacific/Apia', 'Pacific/Chatham', 'Africa/Cairo', 'UTC', 'gmt', 'EST5EDT', 'PST8PDT', 'US/Pacific', 'Etc/GMT-14', 'Factory', 'Etc/Unknown', 'america/new_york', ' UTC', 'Europe'];

export const special = ({ below, pick, chance, times, random }) => {
  const kinds = {
    dateTexts: () => ({
      template: '{{ s | date: "%Y-%m-%dT%H:%M:%S.%L" }}',
      variables: { s: times(1 + below(5), () => pick(dateParts)).join(pick(['', ' ', ' ', ' ', '-', '/', ', '])) },
    }),
    disturbedDates: () => {
      const date = new Date(Math.floor((random() - 0.5) * 2 * pick([8.64e15, 1e15, 4e12, 1e11])));
      let s = pick([() => date.toISOString(), () => date.toString(), () => date.toUTCString(), () => date.toLocaleString('en-US'), () => date.toISOString().slice(0, 10)])();
      const at = below(s.length);
      if (chance(0.5)) s = s.slice(0, at) + pick(['', '0', '5', ' ', '-', ':', '.', 'Z', '+', 'a']) + s.slice(at + below(2));
      return { template: '{{ s | date: "%Y-%m-%dT%H:%M:%S.%L" }}|{{ s | date: "%j %U %W %C %y %e %l %s %c %q" }}', variables: { s } };
    },
    formats: () => ({
      template: '{{ t | date: f }}',
      variables: {
        t: pick([0, -1, 1781519405.678, -62167219200, -62135596801, 253402300800, -98765432100, Math.floor((random() - 0.5) * 1e11)]),
        f: times(1 + below(9), () => pick([...'%%%%%%-_0^#:123459EOaAbBcCdeHIjklLmMNpPqsSuUwWxXyYzZtnhDQv é\n\u2028'])).join('').replace(/\d{4,}/g, '12'),
      },
    }),
    zones: () => ({
      template: '{{ t | date: "%Y-%m-%d %H:%M:%S.%L %:z %Z", z }}',
      variables: { z: pick(zones), t: Math.floor((random() - 0.7) * 5.8e9) + 0.5 },
    }),
    arithmetic: () => {
      const bits = new Uint32Array([random() * 2 ** 32, random() * 2 ** 32]);
      const any = new Float64Array(bits.buffer)[0];
      const number = () => pick([() => (Number.isFinite(any) ? any : 0), () => (below(2e6) - 1e6) / pick([1, 10, 100, 1000, 7, 3]), () => (random() - 0.5) * 10 ** (below(44) - 22)])();
      const name = pick(['plus', 'minus', 'times', 'divided_by', 'modulo', 'at_least', 'round']);
      const m = name === 'round' ? pick([0, 1, 2, 3, -1, -2, 5, 1.5, 20, 300]) : number();
      return { template: `{{ n | ${name}: m }}|{{ n | ceil }}|{{ n | round }}|{{ n }}`, variables: { n: number(), m } };
    },
    numerals: () => ({
      template: '{{ s | plus: 0 }}|{{ s | to_integer }}',
      variables: { s: pick(['', '', '', '0x', '0b', '0o']) + times(1 + below(pick([7, 7, 70])), () => pick(chance(0.7) ? [...'0123456789'] : [...'.eE+-xXbB_ \n\u00a0\ufeffInfinityaF'])).join('') },
    }),
    sorts: () => {
      const mixed = () => pick([() => below(10), () => below(10) / 2, () => String(below(12)), () => pick(['a', 'b', 'B', '', 'é', '10', '9']), () => null, () => true, () => [below(3)], () => ({}), () => 'x' + below(5)])();
      const xs = times(below(pick([8, 20, 60])), () => (chance(0.6) ? mixed() : below(50)));
      return { template: '{{ xs | sort | json }}|{{ xs | sort_natural | map: "size" | join }}', variables: { xs } };
    },
    letters: () => {
      const at = below(0x1ffff);
      const s = times(12, (_, by) => (at + by >= 0xd800 && at + by < 0xe000 ? '-' : String.fromCodePoint(1 + at + by))).join('');
      return { template: '{{ s | upcase }}|{{ s | downcase }}|{{ s | capitalize }}|{{ s | slugify }}|{{ s | strip | size }}|{{ s | number_of_words: "cjk" }}', variables: { s } };
    },
    soup: () => {
      const soup = (most) => times(1 + below(most), () => pick(tokens)).join(pick(['', ' ', ' ']));
      const inText = (most) => soup(most).replaceAll("'", '');
      const shapes = [
        () => `{{ ${soup(6)} }}`, () => `{% if ${soup(5)} %}T{% else %}F{% endif %}`, () => `{% for x in ${soup(4)} %}{{ x }}{{ forloop.name }},{% endfor %}`,
        () => `{% assign a = ${soup(5)} %}{{ a }}`, () => `{% case ${soup(2)} %}{% when ${soup(4)} %}W{% else %}E{% endcase %}`, () => `{% cycle ${soup(5)} %}{% cycle ${soup(2)} %}`,
        () => `{% liquid ${soup(6)}\n ${soup(5)}\n echo ${soup(4)} %}`, () => `{% tablerow x in ${soup(4)} %}{{ x }}{% endtablerow %}`, () => `{% raw %}${soup(4)}{% endraw %}${soup(3)}`,
        () => `a {%- ${soup(3)} -%} b {{- ${soup(3)} -}} c`, () => `{% capture ${soup(2)} %}${soup(3)}{% endcapture %}{{ a }}{{ q }}`, () => `{% comment %}${soup(5)}{% endcomment %}${soup(2)}`,
        () => `{% unless ${soup(3)} %}1{% else %}2{% elsif ${soup(2)} %}3{% endunless %}`, () => `{{ s | append: '${soup(3)}' }}`, () => soup(8),
        () => `{{ xs | ${pick(['where', 'find', 'map', 'group_by', 'sort', 'sum', 'has'])}: '${inText(3)}' | json }}`,
        () => `{{ xs | ${pick(['where_exp', 'find_exp', 'group_by_exp', 'has_exp', 'reject_exp'])}: 'x', '${inText(5)}' | json }}`,
      ];
      return {
        template: pick(shapes)(),
        variables: { a: pick([1, 'A', null, [1, 2], false]), b: pick(['2026', 3, {}]), s: pick(['str', 'a b', '']), xs: pick([[1, 2, 3], ['a'], [], [{ a: 1, s: 'x' }, { a: 2 }]]), o: pick([{ a: 1, size: 3 }, {}, { first: 2 }]), n: pick([0, 2, -1]) },
      };
    },
  };
  return kinds;
};
