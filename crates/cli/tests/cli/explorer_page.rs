//! The explorer's page in a real browser: unfold, zoom, fold, search, save, and come back to a state by its address.

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use crate::binary::{birk, folder};
use crate::driver::Browser;
use crate::server::Server;

/// A page of the explorer, and its server, which ends with the test.
struct Page {
    browser: Browser,
    server: Server,
}

impl Page {
    /// Opens the page of a model; `None` without a browser.
    fn open(folder: &Path, model: &str, size: (u32, u32)) -> Option<Self> {
        let browser = Browser::open(folder, size)?;
        let server = Server::of(model);
        let page = Self { browser, server };
        page.browser.go(&page.address());
        page.boxes(1);
        Some(page)
    }

    fn address(&self) -> String {
        format!("http://{}/?token={}", self.server.host, self.server.token)
    }

    /// Waits until so many boxes are drawn.
    #[track_caller]
    fn boxes(&self, number: usize) {
        self.browser.wait_for(&format!("document.querySelectorAll('.node').length === {number}"));
    }

    /// Chooses a value in a list.
    fn choose(&self, list: &str, value: &str) {
        let script =
            "const s = document.getElementById('LIST'); s.value = 'VALUE'; s.dispatchEvent(new Event('change'))";
        self.browser.run(&script.replace("LIST", list).replace("VALUE", value));
    }

    fn count(&self, selector: &str) -> Value {
        self.browser.run(&format!("return document.querySelectorAll(\"{selector}\").length"))
    }

    /// How large the drawing is shown.
    fn scale(&self) -> f64 {
        let script = "return document.querySelector('#graph > svg > g').transform.baseVal.consolidate().matrix.a";
        self.browser.run(script).as_f64().expect("a number")
    }

    /// What the page complained about, apart from questions that were refused.
    fn complaints(&self) -> Vec<String> {
        self.browser.complaints().into_iter().filter(|text| !text.contains("400")).collect()
    }
}

#[test]
fn the_graph_is_unfolded_and_the_violation_is_marked() {
    let folder = folder("explorer_unfold");
    let Some(page) = Page::open(&folder, "models/philosophers2.bir", (1400, 900)) else { return };
    let browser = &page.browser;
    assert_eq!(browser.text("#system"), "TwoDiningPhilosophers");
    browser.click(".node[data-id='0']");
    page.boxes(3);
    browser.click(".node[data-id='1']");
    page.boxes(5);
    assert!(browser.text(".node[data-id='1']").contains("Philosopher1@loc1\nPhilosopher2@loc0\nfork1 = true"));
    browser.click(".node[data-id='2']");
    // Both ways lead to the deadlock: the state is shared, so one box is new, not two.
    page.boxes(6);
    assert_eq!(page.count(".node.violated"), 1);
    assert!(browser.text(".node.violated .mark").contains("✗ deadlock"));

    browser.click(".node.violated");
    browser.wait_for("document.getElementById('marks').textContent.includes('deadlock violated')");
    browser.click("#steps .why");
    browser.wait_for("document.querySelector('#steps pre')");
    assert!(browser.text("#steps pre").contains("!fork2   false"));

    // In a tree, states are not shared.
    page.choose("shape", "tree");
    page.boxes(1);
    for boxes in [3, 7] {
        browser.click("#level");
        page.boxes(boxes);
    }
    assert_eq!(page.count(".node.violated"), 2);

    // Filters: without the second philosopher there is one way.
    browser.click("#steps-of summary");
    browser.click("#threads input[value='1']");
    page.boxes(3);
    browser.click("#threads input[value='1']");
    page.boxes(7);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn properties_are_followed() {
    let folder = folder("explorer_properties");
    let Some(page) = Page::open(&folder, "models/philosophers2.bir", (1400, 900)) else { return };
    let browser = &page.browser;
    let row = || browser.text("#properties tbody tr");
    assert_eq!(row(), "deadlock holds not violated");
    browser.click("#level");
    page.boxes(3);
    browser.click("#level");
    page.boxes(6);
    browser.wait_for("document.querySelector('#properties tbody tr button')");
    assert!(row().starts_with("deadlock holds state "), "{}", row());
    browser.click("#properties tbody tr button");
    browser.wait_for("document.querySelector('#properties .bad').textContent === '✗ violated'");
    assert!(browser.text("#marks").contains("✗ deadlock violated"));
}

#[test]
fn the_drawing_is_zoomed_and_moved() {
    let folder = folder("explorer_zoom");
    let Some(page) = Page::open(&folder, "models/philosophers_ring.bir -D N=3", (1100, 800)) else { return };
    let browser = &page.browser;
    let first = page.scale();
    browser.click("#zoom-in");
    assert!((page.scale() / first - 1.25).abs() < 0.01);
    browser.click("#zoom-out");
    assert!((page.scale() / first - 1.0).abs() < 0.01);
    let is_hidden = || browser.run("return document.getElementById('minimap').hasAttribute('hidden')");
    assert_eq!(is_hidden(), true, "one box needs no map");
    for boxes in [4, 10, 17] {
        browser.click("#level");
        page.boxes(boxes);
    }
    browser.click("#fit");
    assert_eq!(is_hidden(), true, "everything is shown");
    let outside = "return [...document.querySelectorAll('.node')].filter((n) => { const a = n.getBoundingClientRect(), \
                   b = document.getElementById('graph').getBoundingClientRect(); return a.left < b.left || a.right > b.right \
                   || a.top < b.top || a.bottom > b.bottom; }).length";
    assert_eq!(browser.run(outside), 0);

    // The wheel zooms at the pointer, and then there is a map of what lies outside.
    let fitted = page.scale();
    let wheel = "for (let i = 0; i < 6; i++) document.getElementById('graph').dispatchEvent(new WheelEvent('wheel', \
                 { deltaY: -150, clientX: 300, clientY: 400, cancelable: true }))";
    browser.run(wheel);
    assert!(page.scale() > 2.0 * fitted);
    assert_eq!(is_hidden(), false);
    assert_ne!(browser.run(outside), 0);
    let place = || browser.run("return document.querySelector('#graph > svg > g').getAttribute('transform')");
    let before = place();
    browser.click("#minimap");
    assert_ne!(place(), before, "the map leads elsewhere");

    // Dragging moves, and is not a click on the box under it.
    let (before, selected) = (place(), browser.text("#title"));
    let drag = "const g = document.querySelector('.node'), f = (type, x, y) => g.dispatchEvent(new PointerEvent(type, { pointerId: 1, \
                button: 0, buttons: 1, clientX: x, clientY: y, bubbles: true })); f('pointerdown', 300, 300); f('pointermove', 340, 360); \
                f('pointerup', 340, 360); g.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))";
    browser.run(drag);
    assert_ne!(place(), before);
    assert_eq!(browser.text("#title"), selected);
    browser.type_into("#graph", "0");
    assert!((page.scale() - fitted).abs() < 0.01, "the key 0 shows everything");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn every_state_has_an_address() {
    let folder = folder("explorer_address");
    let Some(page) = Page::open(&folder, "models/philosophers2.bir", (1400, 900)) else { return };
    let browser = &page.browser;
    let hash = || browser.run("return location.hash").as_str().unwrap_or_default().to_owned();
    browser.click(".node[data-id='0']");
    page.boxes(3);
    browser.click(".node[data-id='2']");
    page.boxes(5);
    browser.wait_for("location.hash === '#s=0:1'");
    let values = browser.text("#values");
    // It is what `replay` takes.
    birk("replay models/philosophers2.bir 0:1").exits(0).prints("Philosopher2");
    // In another window, which does not know these states.
    let address = format!("{}#s=0:1,0", page.address());
    browser.go("about:blank");
    browser.go(&address);
    browser.wait_for("document.getElementById('marks').textContent.includes('deadlock violated')");
    assert_eq!(hash(), "#s=0:1,0");
    assert!(browser.text("#title").ends_with("2 steps from the start"));
    browser.run("location.hash = '#s=0:1'");
    browser.wait_for("document.getElementById('title').textContent.endsWith('1 step from the start')");
    assert_eq!(browser.text("#values"), values);
    browser.run("location.hash = '#s=0:1,7'");
    browser.wait_for("document.getElementById('news').textContent.includes('the address does not fit the model')");
    browser.run("location.hash = '#elsewhere'");
    browser.wait_for("document.getElementById('news').textContent.includes('not the address of a state')");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn searches_have_a_list_of_results() {
    let folder = folder("explorer_search");
    let Some(page) = Page::open(&folder, "models/philosophers2.bir", (1400, 900)) else { return };
    let browser = &page.browser;
    browser.type_into("#condition", "fork1 && fork2");
    browser.click("#search button");
    browser.wait_for("document.getElementById('news').textContent === '2 steps away'");
    let results = page.count("#results li").as_u64().expect("a number");
    assert!(results > 2, "{results}");
    assert!(browser.text("#found-title").contains(&format!("{results} states found (10 visited)")));
    assert_eq!(page.count("#results li.now"), 1);
    assert_ne!(page.count(".edge.way"), 0);
    let first = browser.text("#title");
    browser.click("#results li:nth-child(2) button");
    browser.wait_for("document.querySelector('#results li:nth-child(2).now')");
    browser.wait_for(&format!("document.getElementById('title').textContent !== '{first}'"));
    assert!(browser.text("#values").contains("fork1 true\nfork2 true"), "{}", browser.text("#values"));
    browser.click("#found-close");
    browser.run("document.getElementById('condition').value = 'fork3'");
    browser.click("#search button");
    browser.wait_for("document.getElementById('news').textContent.includes('did you mean `fork1`')");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn states_are_folded_by_what_is_chosen() {
    let folder = folder("explorer_fold");
    let Some(page) = Page::open(&folder, "models/philosophers2.bir", (1400, 900)) else { return };
    let browser = &page.browser;
    for boxes in [3, 6] {
        browser.click("#level");
        page.boxes(boxes);
    }
    page.choose("show", "folded");
    // All threads' locations are chosen at first: no two of these states agree on them.
    page.boxes(6);
    // Without the second philosopher, its own steps are not seen.
    browser.click("#variables input[data-group='Philosopher2']");
    page.boxes(3);
    let note = browser.text("#fold-note");
    assert!(note.starts_with("folded: 6 states in 3 boxes") && note.contains("inside boxes not drawn"), "{note}");
    assert!(!browser.text("#graph").contains("Philosopher2@ ="));
    browser.click("h1");
    browser.click(".node[data-id='0']");
    browser.wait_for("!document.getElementById('members').hidden");
    assert!(browser.text("#members").starts_with("its box: 0 2"), "{}", browser.text("#members"));
    page.choose("show", "changes");
    browser.wait_for("document.getElementById('fold-note').hidden");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn threads_are_shown_where_they_are() {
    let folder = folder("explorer_threads");
    let Some(page) = Page::open(&folder, "models/philosophers2.bir", (1400, 900)) else { return };
    let browser = &page.browser;
    browser.click(".node[data-id='0']");
    page.boxes(3);
    browser.click("#tab-threads");
    browser.wait_for("document.querySelectorAll('#automata svg').length === 2");
    let lit =
        "return [...document.querySelectorAll('#automata .box.lit')].map((box) => box.dataset.location).join(' ')";
    assert_eq!(browser.run(lit), "loc0 loc0");
    assert_eq!(page.count("#automata .edge.lit"), 2);
    assert!(browser.text("#automata").contains("[!fork1]") && browser.text("#automata").contains("fork1 := true"));
    assert_eq!(page.count("#automata .edge.never"), 6);
    // A step from the list at the right moves them.
    browser.click("#steps li button");
    browser.wait_for("document.querySelectorAll('#automata .edge.never').length === 5");
    assert_eq!(browser.run(lit), "loc1 loc0");
    browser.click("#tab-graph");
    page.boxes(5);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn pictures_are_saved() {
    let folder = folder("explorer_save");
    let Some(page) = Page::open(&folder, "models/philosophers2.bir", (1400, 900)) else { return };
    let browser = &page.browser;
    browser.click(".node[data-id='0']");
    page.boxes(3);
    // What would become a file is kept.
    let keep = "window.saved = []; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { window.saved.push(blob); \
                return make(blob); }";
    browser.run(keep);
    browser.click("#save-svg");
    browser.wait_for("window.saved.length === 1");
    let text = browser.run("return window.saved[0].text()");
    let text = text.as_str().expect("a text");
    assert!(text.starts_with("<svg") && text.contains("prefers-color-scheme: dark"), "{text}");
    assert_eq!(text.matches("class=\"box node").count(), 3);
    assert!(!text.contains("tabindex") && text.contains("Philosopher1@loc1"));
    browser.click("#save-png");
    browser.wait_for("window.saved.length === 3");
    assert_eq!(browser.run("return window.saved[2].type"), "image/png");
    let wide = "return createImageBitmap(window.saved[2]).then((image) => image.width)";
    assert!(browser.run(wide).as_u64().is_some_and(|wide| wide > 400));
    assert_eq!(browser.text("#news"), "");

    browser.click("#tab-threads");
    browser.wait_for("document.querySelectorAll('#automata svg').length === 2");
    browser.click("#save-svg");
    browser.wait_for("window.saved.length === 4");
    let text = browser.run("return window.saved[3].text()");
    assert_eq!(text.as_str().expect("a text").matches("data-location").count(), 8);
    assert_eq!(page.complaints(), [""; 0]);
}

/// No label lies on another label or on a box, and every text is inside its frame, as the browser measures it.
#[test]
fn texts_are_inside_their_frames() {
    let folder = folder("explorer_overlap");
    let Some(page) = Page::open(&folder, "models/philosophers_ring.bir -D N=3", (1400, 900)) else { return };
    let browser = &page.browser;
    let overlaps = "const r = [...document.querySelectorAll('.picture .label rect, .picture .box rect')].map((n) => n.getBoundingClientRect()); \
                    let n = 0; r.forEach((a, i) => r.slice(0, i).forEach((b) => { if (a.left < b.right - 1 && b.left < a.right - 1 \
                    && a.top < b.bottom - 1 && b.top < a.bottom - 1) n++; })); return n";
    let spilled = "let n = 0; for (const g of document.querySelectorAll('.picture .label, .picture .box')) { \
                   const a = g.querySelector('rect').getBoundingClientRect(); for (const t of g.querySelectorAll('text')) { \
                   const b = t.getBoundingClientRect(); if (b.left < a.left - 1 || b.right > a.right + 1) n++; } } return n";
    for boxes in [4, 10, 17] {
        browser.click("#level");
        page.boxes(boxes);
        assert_eq!(browser.run(overlaps), 0);
        assert_eq!(browser.run(spilled), 0);
    }
    let file = folder.join("ring.svg");
    fs::write(&file, birk("graph models/philosophers_ring.bir -D N=3 --format svg").exits(0).out).expect("writable");
    browser.go(&format!("file://{}", file.display()));
    assert_eq!(browser.run("return document.querySelectorAll('.box').length"), 35);
    assert_eq!(browser.run(overlaps), 0);
    assert_eq!(browser.run(spilled), 0);
}

#[test]
fn a_model_of_a_million_states_stays_responsive() {
    let folder = folder("explorer_large");
    let text = "system Large { byte [3] a; active [3] thread T(int i) { loc l: do { a[i] := a[i] + 1; } goto l; } }";
    fs::write(folder.join("large.bir"), text).expect("writable");
    let model = folder.join("large.bir").display().to_string();
    let Some(page) = Page::open(&folder, &model, (1400, 900)) else { return };
    let start = Instant::now();
    for boxes in [4, 10, 20] {
        page.browser.click("#level");
        page.boxes(boxes);
    }
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 5.0, "three levels of a model with 16,777,216 states took {seconds} s");
}

#[test]
fn several_initial_states_are_several_roots() {
    let folder = folder("explorer_initial");
    let text = "system S { int (0, 9) x := choose({2, 5}); active thread T() { x := x + 1; x := 9; } }";
    fs::write(folder.join("s.bir"), text).expect("writable");
    let model = folder.join("s.bir").display().to_string();
    let Some(browser) = Browser::open(&folder, (1000, 700)) else { return };
    let page = Page { browser, server: Server::of(&model) };
    page.browser.go(&page.address());
    page.boxes(2);
    assert!(page.browser.text(".node[data-id='0']").contains("x = 2"));
    assert!(page.browser.text(".node[data-id='1']").contains("x = 5"));
    page.browser.click(".node[data-id='1']");
    page.boxes(3);
    page.browser.click(".node[data-id='3']");
    page.boxes(4);
    assert_eq!(page.browser.text("#address"), "#s=1:0");
    // The address leads back, also in a tree.
    page.browser.go("about:blank");
    page.browser.go(&format!("{}#s=1:0,0", page.address()));
    page.browser.wait_for("document.getElementById('title').textContent.includes('2 steps from the start')");
    page.choose("shape", "tree");
    page.boxes(2);
    page.browser.click(".node[data-id='1']");
    page.boxes(3);
    assert_eq!(page.complaints(), Vec::<String>::new());
}
