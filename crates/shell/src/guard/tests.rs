//! Lines that the parser misreads or takes too long for, and harmless ones like them.

use super::*;

#[test]
fn parentheses_that_the_parser_misunderstands_are_found() {
    for lost in ["x=$(for ((i=0;;)) { a; }); cat <<E\nrm x\nE", "x=$(f ((1<2))); cat <<-E\n\trm x\n\tE"] {
        assert!(before_tokens(lost).is_some(), "{lost}");
    }
    for read in [
        "for ((i=0; i<3; i++)); do x=$(a); done; cat <<E\na\nE",
        "x=$(f $((1 + 2))); cat <<E\na\nE",
        "x=$(( $((1)) + $(a; b) )); (a; b)",
        "echo \"$((a)) $((b)); c\"",
        "$((a b); c d)",
    ] {
        assert_eq!(before_tokens(read), None, "{read}");
    }
}

#[test]
fn ends_of_documents_that_the_parser_misunderstands_are_found() {
    for expanded in ["a <<$(b c)", "a <<-b${c}", "a << \\\n`b`", "a <<\"$[1]\""] {
        assert!(has_expanded_end(expanded), "{expanded}");
    }
    for named in ["a <<E $(b)", "a <<$b", "a <<< ${b}", "a <<E\n$(b)\nE", "$((1 << $n))"] {
        assert!(!has_expanded_end(named), "{named}");
    }
    for unclear in ["'\\'", "\"a\\b\"", "$'E'", "a$\"E\"", "\\a'\\'"] {
        assert!(is_unclear_end(unclear), "{unclear}");
    }
    for clear in ["E", "'E'", "\\E", "\"a b\"", "a\\'b", "\\$'E'"] {
        assert!(!is_unclear_end(clear), "{clear}");
    }
}

#[test]
fn backquotes_after_brackets_are_counted() {
    assert!(before_tokens(&"a[`g".repeat(INDEXES + 1)).is_some());
    assert_eq!(before_tokens(&"a[`g`]=1 ".repeat(INDEXES)), None);
    assert!(before_tokens(&"a[b".repeat(INDEXES + 1)).is_some());
    assert_eq!(before_tokens(&"a[b[1]] [[ ] ".repeat(50)), None);
}

#[test]
fn what_the_parser_reads_over_and_over_is_counted_as_it_does() {
    let five = |opener: &str| opener.repeat(5);
    for opener in ["$(", "${", "$[", "$((", "$( (", "$(a ')' ", "$(a \")\" ", "$(a \\) "] {
        for document in [false, true] {
            assert!(is_costly(&five(opener), document), "{opener}");
        }
    }
    assert!(is_costly(&("$(".to_owned() + &five("(")), true));
    for ended in [
        "$(a) ",
        "${a} ",
        "$((1 + 2)) ",
        "\"$(a \"b)\")\" ",
        "$(a ')' b) ",
        "`(` ",
        "$(a (b (c))) ",
        "' ( ' ",
    ] {
        assert!(!is_costly(&five(ended), false), "{ended}");
    }
    for text in ["it's (", "(", "\"(", "{"] {
        assert!(!is_costly(&five(text), true), "{text}");
    }
    for costly in ["{a,", "{", "{a,b}{", "$(a {"] {
        assert!(is_costly(&five(costly), false), "{costly}");
    }
    assert!(is_costly("{{{{{a}}}}},b", false));
    assert!(is_costly(&five("$((a); b) "), false) && is_costly(&five("$(($(a)) ; b) "), true));
    assert!(!is_costly(&five("$(( (1) + ($(a)) )) "), false));
    assert!(is_costly(&"${ a b{c,d}".repeat(5), false) && !is_costly(&"${a:-b{c,d}}".repeat(9), false));
    assert!(is_costly(&"${a b{c,d}".repeat(5), false));
    for asked in [
        "a", "#a", "!a", "#", "!", "@", "*", "?", "$", "-", "1", "10", "a[1]", "a:-b", "a#b", "a^^", "a@Q",
        "!a*", "#*", "@:1",
    ] {
        assert!(names_parameter(&format!("{asked}}}")), "{asked}");
    }
    // After one that is a letter, quotes hide nothing.
    assert!(is_costly(&format!("$(a 'b'c{}$(d)", "'$(e 'f".repeat(9)), true));
    // A failed reading as arithmetic takes the ends of those around it.
    assert!(is_costly(&format!("$(f {}$((b);{})", "(".repeat(6), ");".repeat(9)), true));
    assert!(!is_costly("$(f $(g $((a); b)))", false));
    assert!(is_costly(&format!("x{{{}{}", "${".repeat(7), "{a,b}".repeat(20)), false));
    assert!(!is_costly("${a:-${b:-${c:-${d:-{e,{f,g}}}}}}", false));
    for cheap in
        ["{a,b}", "{a,{b,c}}", "'{'", "\\{", "\"{\"", "${a:-{}", "{${a},b}", "$(a {) ", "{a,'}'}", "{{{a}}}"]
    {
        assert!(!is_costly(&five(cheap), false), "{cheap}");
    }
    assert!(is_costly(&format!("${{X){}}}", "{X)".repeat(30)), false));
    assert!(!is_costly(&"{a,b}".repeat(200), false));
    assert!(!is_costly(r#"'{"a":{"b":{"c":{"d":{"e":{}}}}}}'"#, false));
    assert!(!is_costly(r#""{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{}}}}}}""#, false));
    // A quote without an end is a letter.
    assert!(is_costly(&format!("' {}", five("$(")), false));
}

#[test]
fn what_the_parser_tries_twice_is_counted_in_each_other() {
    let refused = |text: &str| {
        let tokens = brush_parser::tokenize_str(text).unwrap();
        before_tree(&tokens).is_some()
    };
    let nested =
        |times: usize, open: &str, close: &str| format!("{}b{}", open.repeat(times), close.repeat(times));
    assert!(
        refused(&nested(9, "case a in a) ", " ;; esac")) && !refused(&nested(8, "case a in a) ", " ;; esac"))
    );
    assert!(refused(&"case a in a) b;".repeat(9)) && !refused(&"case a in a) b;; esac;".repeat(20)));
    assert!(refused(&nested(9, "( ", ")")) && !refused(&nested(8, "( ", ")")));
    let mixed = |cases: usize| format!("{}{}", "case a in a) ".repeat(cases), "( ".repeat(4));
    assert!(refused(&mixed(5)) && !refused(&mixed(4)));
}
