//! Prints what the front end says of texts.
fn main() {
    use std::io::Read;
    let mut all = String::new();
    std::io::stdin().read_to_string(&mut all).unwrap();
    for text in all.split("\n%%\n") {
        let text = text.trim_end_matches('\n');
        println!("---- {text}");
        let start = std::time::Instant::now();
        let parsed = birk_lang::parser::parse(text, 0);
        let parse = start.elapsed();
        drop(parsed);
        let start = std::time::Instant::now();
        let loaded = birk_lang::load(text, &[]);
        eprintln!("parse {parse:?} load {:?} {} diagnostics", start.elapsed(), loaded.diagnostics.len());
        if loaded.diagnostics.is_empty() {
            println!("    (fine)");
        }
        for d in loaded.diagnostics.iter().take(20) {
            let line = text.get(..d.span.start as usize).map_or(0, |t| t.matches('\n').count() + 1);
            let src = if d.span.file == 0 { text.get(d.span.range()).unwrap_or("?") } else { "(file)" };
            println!(
                "    {} {line} [{src}] {} | {} | {:?} {:?}",
                d.code,
                d.message,
                d.label,
                d.help,
                d.related.iter().map(|(_, l)| l).collect::<Vec<_>>()
            );
        }
        if let Some(program) = loaded.program {
            if std::env::args().count() > 1 {
                println!("{}", program.to_text());
            }
        }
    }
}
