//! The formatter keeps every token and comment, settles at once, and has one layout.

use birk_lang::fmt::format;
use birk_lang::lexer::{TokenKind, tokenize};
use std::path::Path;

/// What has to survive: tokens as they are, comments without the blanks at their end.
fn content(text: &str, keep: impl Fn(TokenKind) -> bool) -> Vec<&str> {
    let tokens = tokenize(text).0.into_iter().filter(|token| keep(token.kind));
    tokens.map(|token| text[token.span.range()].trim_end()).collect()
}

fn check(name: &str, text: &str) -> String {
    let formatted = match format(text) {
        Ok(formatted) => formatted,
        Err(diagnostics) => panic!("{name}: {diagnostics:?}"),
    };
    let is_comment = |kind| matches!(kind, TokenKind::LineComment | TokenKind::BlockComment);
    assert_eq!(content(text, |kind| !kind.is_trivia()), content(&formatted, |kind| !kind.is_trivia()), "{name}");
    assert_eq!(content(text, is_comment), content(&formatted, is_comment), "{name}");
    assert_eq!(format(&formatted).as_ref(), Ok(&formatted), "{name}: formatting twice changes nothing");
    formatted
}

#[test]
fn models_are_kept_and_settle() {
    let mut count = 0;
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models"), &mut |path, text| {
        // What is rejected for its syntax is not formatted.
        if format(text).is_err() {
            return;
        }
        count += 1;
        let formatted = check(path, text);
        for line in formatted.lines().filter(|line| !line.contains("//")) {
            assert!(line.chars().count() <= 100, "{path}: {line}");
        }
    });
    assert!(count > 100, "the corpus is there: {count} models");
    let mut libraries = 0;
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("std"), &mut |path, text| {
        check(path, text);
        libraries += 1;
    });
    assert_eq!(libraries, 6, "the standard library is there");
}

fn visit(folder: &Path, action: &mut impl FnMut(&str, &str)) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            visit(&path, action);
        } else if path.extension().is_some_and(|extension| extension == "bir") {
            let text = std::fs::read_to_string(&path).expect("a model can be read");
            action(&path.to_string_lossy(), &text);
        }
    }
}

#[test]
fn an_ugly_file_becomes_canonical() {
    insta::assert_snapshot!(check("ugly", UGLY));
}

#[test]
fn comments_stay_where_they_are_at_every_place() {
    let tokens = tokenize(SMALL).0;
    let comments = [
        "/* c */",
        " /* c */ ",
        "// c\n",
        "\n// c\n",
        "\n\n\n// c\n\n\n",
        "\n/* c */",
        "/* c\nd */",
        "/* c */\n",
        "/**/ // c\n",
    ];
    for comment in comments {
        for token in &tokens {
            let (before, behind) = SMALL.split_at(token.span.start as usize);
            check(comment, &format!("{before}{comment}{behind}"));
        }
        check(comment, &format!("{SMALL}{comment}"));
    }
    for (first, second) in comments.iter().flat_map(|first| comments.map(|second| (first, second))) {
        for token in &tokens {
            let (before, behind) = SMALL.split_at(token.span.start as usize);
            check(second, &format!("{before}{first}{second}{behind}"));
        }
    }
}

#[test]
fn layouts() {
    for (text, expected) in [
        ("system S{}", "system S {\n}\n"),
        ("system S{int x;\n\n\n\nint y;}", "system S {\n  int x;\n\n  int y;\n}\n"),
        ("system S{\n\nint x; // a\n// b\nint y;\n\n}", "system S {\n  int x; // a\n  // b\n  int y;\n}\n"),
        ("\u{feff}system S{}\r\n\r\n// a \r\n", "system S {\n}\n\n// a\n"),
        (
            "system S{thread T(){loc a:do{}goto a;}}",
            "system S {\n  thread T() {\n    loc a:\n      do { } goto a;\n  }\n}\n",
        ),
        ("system S{ltl p:X==1&&X-1==U;}", "system S {\n  ltl p: X == 1 && X - 1 == U;\n}\n"),
        ("system S{ltl p:X p&&X[0]&&X[]q;}", "system S {\n  ltl p: X p && X[0] && X [] q;\n}\n"),
        ("system S{ltl p:G(p)&&F[0]&&G F!q;}", "system S {\n  ltl p: G (p) && F[0] && G F !q;\n}\n"),
        ("system S{int x:=a?b?1:2:-3- -4;}", "system S {\n  int x := a ? b ? 1 : 2 : -3 - -4;\n}\n"),
    ] {
        assert_eq!(check(text, text), expected);
    }
}

#[test]
fn a_broken_file_is_refused() {
    let codes: Vec<_> = format("system S { int x }").unwrap_err().iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, ["E0005"]);
}

const SMALL: &str = "system S { const P { A = 1; B = f(1, 2), }; enum E { a, b } int[3] x := 1, y; \
    active [2] thread T(int i) { byte z; loc a: end when !x[i] && (y == 1 ? true : z < 2) do { z := choose(0, 1); skip; } \
    goto b; do { return; } loc b: do { } return; } invariant p: forall (i : 0 .. 1) T[i]@a => x[i] == -1; \
    ltl q: [] (p -> <> q U r); }";

const UGLY: &str = r#"

// A deliberately ugly file.

/* block
   comment */
system   Ugly{ // opened

  const Param{A=1;B=2,/* inline */C=A+B;
    // before the brace
  };
  const N=3;enum Colour{red,green   ,
     blue};
  enum Broken { // why
    one, two,
    three // last
  }
typealias Small int wrap(0,3);
  Small [ N ][2] cells;int(0,Param.A) x:=1,y  ;   byte wrap;

  // Two empty lines were above.
  function next(int i,Colour c):int=i==N-1?0:i+ -1*( - 2 );

  active[Param.A]
  thread Walker(int index){
    int steps;   // trailing

    /* own line */

    loc start1:end progress // marks

      when!(x<3)&&cells[index][0]!=y   do{
        x:=x+1;

        y:=choose(0,Param.B) ;
      }goto start1;
      do{skip;goto stop;}
      when x==1 do { } goto stop;
      // about the next
      when forall(i:0..N-1)cells[i][0]==0 do { x := 0; // note
        assert x>0,"a text";
        } return;

    loc stop:
      when aaaaaaaaaaaaaaaaaaaaaaaaa == 1 && bbbbbbbbbbbbbbbbbbbbbbbbbb == 2 && (ccccccccccccccccccccc == 3 || ddddddddd) do { } goto stop;
      when aaaaaaaaaaaaaaaaaaaaaaaaa == 1 && bbbbbbbbbbbbbbbbbbbbbbbbbb == 2 && (ccccccccccccccccccccc == 3 || ddddddddd) do { x := 1; y := 2; } goto stop;
      do { x := 1; y := 2; cells[0][0] := cells[1][1] + cells[2][0]; start Other(1, 2); assume x > 0; skip; } goto stop;
      when a && // first
        b do { x /* odd */ := 1; } /* jump */ goto stop;
      do { // nothing
      } return;
  }
  [2] thread Other(){loc a:do{}
  // strange
  return;}

  invariant p:x>0=>y>0;
  invariant long: (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa == 1 && bbbbbbbbbbbbbbbbbbbbbbbbbbbbb == 2 && cccccccccccccccccccccc == 3);
  ltl q:[](Walker[0]@start1-><>(X p U(always q)))&&![]<>r<->next(p)W release R X;
  reachable r :exists(i:0..1)Walker[i].steps>0?true:false ;

  // the end

}

// after

/* last */
"#;
