//! Commands of editors and pagers.

use super::step::{Step, first, is_short, word_of};

/// The text after the next `mark` without a backslash.
fn past(text: &str, mark: char) -> Option<&str> {
    let mut escaped = false;
    let at = text.char_indices().find(|(_, letter)| {
        let found = *letter == mark && !escaped;
        escaped = *letter == '\\' && !escaped;
        found
    });
    at.and_then(|(at, letter)| text.get(at + letter.len_utf8()..))
}

/// A command without the lines that it is for: `1,5`, `%`, `'<,'>`, `/text/`.
fn without_range(text: &str) -> &str {
    let mut rest = text.trim_start_matches([':', ' ', '\t']);
    loop {
        let begun = rest;
        rest =
            rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || "%.,;$+- \t*".contains(letter));
        if let Some(after) = rest.strip_prefix('\'') {
            rest = after.get(after.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
        }
        if let Some((mark, after)) = rest
            .strip_prefix('/')
            .map(|after| ('/', after))
            .or(rest.strip_prefix('?').map(|after| ('?', after)))
        {
            rest = past(after, mark).unwrap_or_default();
        }
        if rest == begun {
            return rest;
        }
    }
}

const MODIFIERS: &str = "sil[ent] uns[ilent] verb[ose] noa[utocmd] noswap[file] keepa[lt] keepj[umps] kee[pmarks] keepp[atterns] loc[kmarks] tab vert[ical] hor[izontal] bo[tright] to[pleft] abo[veleft] bel[owright] lefta[bove] rightb[elow] conf[irm] hid[e] san[dbox] bufd[o] argd[o] wind[o] tabd[o] cdo cfd[o] ld[o] lfd[o]";
const CODE: &str = "so[urce] lua luaf[ile] luad[o] py[thon] pyf[ile] pyd[o] pythonx pyx pyxf[ile] pyxd[o] pe[rl] perld[o] rub[y] rubyf[ile] rubyd[o] tc[l] tclf[ile] mz[scheme] mzf[ile] ru[ntime] pa[ckadd] mak[e] lmak[e] gr[ep] grepa[dd] lgr[ep] exe[cute] norm[al] cal[l] au[tocmd] com[mand] fu[nction] cd chd[ir] lc[d] tc[d] ev[al] def im[port]";
const EXPRESSIONS: &str = "let ec[ho] echom[sg] echoe[rr] if elsei[f] wh[ile] for retu[rn] cons[t] unl[et]";
const OPENS: &str = "e[dit] sp[lit] vs[plit] tabe[dit] tabnew new vne[w] vie[w] sv[iew] fin[d] sf[ind] n[ext] ar[gs] arga[dd] bad[d] dr[op] pe[dit] diffs[plit]";
const WRITES: &str = "w[rite] wq x[it] exi[t] sav[eas] up[date]";

/// A command of vi: several are separated by bars.
pub fn vim(line: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = line;
    loop {
        rest = without_range(rest);
        if let Some(script) = rest.strip_prefix('!') {
            steps.push(Step::Runs(script));
            return steps;
        }
        let (word, after) = word_of(rest);
        let plain = after.strip_prefix('!').unwrap_or(after);
        let file = || {
            let words = plain.split('|').next().unwrap_or_default().split_whitespace();
            let mut names = words.filter(|word| !word.starts_with("++") && *word != ">>");
            // `%` and `#` are files that are open.
            names.find(|name| !name.starts_with(['%', '#']))
        };
        if word.is_empty() {
        } else if is_short(word, MODIFIERS) {
            rest = plain.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ' ');
            continue;
        } else if is_short(word, "g[lobal] v[global]") {
            let mut letters = plain.trim_start().chars();
            let mark = letters.next().unwrap_or('/');
            rest = past(letters.as_str(), mark).unwrap_or_default();
            continue;
        } else if is_short(word, "te[rminal]") {
            let script = plain.trim_start();
            let script = script.strip_prefix("++").map_or(script, |rest| past(rest, ' ').unwrap_or_default());
            steps.push(if script.is_empty() { Step::Opaque } else { Step::Runs(script) });
            return steps;
        } else if is_short(word, CODE) || word.starts_with(|letter: char| letter.is_ascii_uppercase()) {
            steps.push(Step::Opaque);
            return steps;
        } else if is_short(word, EXPRESSIONS) {
            if after.contains(['(', '`']) {
                steps.push(Step::Opaque);
            }
            return steps;
        } else if is_short(word, "r[ead]") {
            match after.trim_start().strip_prefix('!') {
                Some(script) => {
                    steps.push(Step::Runs(script));
                    return steps;
                }
                None => steps.extend(file().map(Step::Reads)),
            }
        } else if is_short(word, WRITES) {
            match after.trim_start().strip_prefix('!').filter(|_| !after.starts_with('!')) {
                Some(script) => {
                    steps.push(Step::Runs(script));
                    return steps;
                }
                None => steps.extend(file().map(Step::Writes)),
            }
        } else if is_short(word, OPENS) {
            steps.extend(file().map(Step::Reads));
        }
        match past(after, '|') {
            Some(next) => rest = next,
            None => return steps,
        }
    }
}

/// A command of `ed`.
pub fn ed(line: &str) -> Vec<Step<'_>> {
    let mut rest = without_range(line);
    let (mut word, mut after) = word_of(rest);
    // `g/text/COMMAND`
    while matches!(word, "g" | "v" | "G" | "V") {
        let mut letters = after.chars();
        let mark = letters.next().unwrap_or('/');
        rest = without_range(past(letters.as_str(), mark).unwrap_or_default());
        (word, after) = word_of(rest);
    }
    let script = if word.is_empty() { rest } else { after.trim_start() }.strip_prefix('!');
    match (word, script) {
        ("" | "r" | "w" | "e" | "E", Some(script)) => vec![Step::Runs(script)],
        ("r" | "e" | "E", None) => first(after).map(Step::Reads).into_iter().collect(),
        ("w" | "W" | "wq", None) => first(after).map(Step::Writes).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A command of `less`, as it is given after `+`.
pub fn less(line: &str) -> Vec<Step<'_>> {
    let line = line.trim_start_matches('+');
    if let Some(script) = line.strip_prefix('!').or_else(|| line.strip_prefix('#')) {
        return vec![Step::Runs(script)];
    }
    // A mark, then the command that reads from there to here.
    if let Some(script) = line.strip_prefix('|') {
        return vec![Step::Runs(script.get(1..).unwrap_or_default())];
    }
    line.strip_prefix(":e").and_then(first).map(Step::Reads).into_iter().collect()
}
