//! A browser, driven as its makers mean it to be: Chromium by its driver, over the WebDriver protocol.

use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use birk_agreement::tools;
use serde_json::{Value, json};

/// Nothing that a page does here takes longer, even on a machine with other things to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// A window of a browser.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: PathBuf,
    /// Held open, because the driver goes on talking.
    _heard: Lines<BufReader<ChildStdout>>,
}

impl Browser {
    /// Opens a window of this size; its profile lies in the folder. Without a browser, the test is skipped.
    pub(crate) fn open(folder: &Path, (width, height): (u32, u32)) -> Option<Self> {
        if !tools::are_installed(&["chromedriver", "chromium|google-chrome"]) {
            return None;
        }
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver can be run");
        let mut lines = BufReader::new(driver.stdout.take().expect("it is heard")).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let rest = line.split("successfully on port ").nth(1)?;
            rest.trim_end_matches('.').parse().ok()
        });
        let profile = folder.join("profile");
        let mut browser =
            Self { driver, port: port.expect("it says its port"), session: String::new(), profile, _heard: lines };
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ];
        let own = [format!("--window-size={width},{height}"), format!("--user-data-dir={}", browser.profile.display())];
        let arguments: Vec<&str> = arguments.into_iter().chain(own.iter().map(String::as_str)).collect();
        let wanted = json!({"browserName": "chrome", "goog:chromeOptions": {"args": arguments},
                            "goog:loggingPrefs": {"browser": "ALL"}});
        let answer = browser.call("POST", "/session", &json!({"capabilities": {"alwaysMatch": wanted}}));
        browser.session = answer["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        Some(browser)
    }

    /// Goes to an address, and waits until the page is loaded.
    pub(crate) fn go(&self, address: &str) {
        self.command("POST", "url", &json!({"url": address}));
    }

    /// What a script returns; a promise is waited for.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.command("POST", "execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until an expression is true on the page.
    #[track_caller]
    pub(crate) fn wait_for(&self, expression: &str) {
        let start = Instant::now();
        while self.run(&format!("return Boolean({expression})")) != true {
            if start.elapsed() > PATIENCE {
                let text = self.run("return document.body.innerText");
                panic!("`{expression}` did not become true; the page says\n{}", text.as_str().unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Clicks an element as a user does: it must be there, and nothing may lie over it.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.command("POST", &format!("element/{element}/click"), &json!({}));
    }

    /// Types into an element.
    pub(crate) fn type_into(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.command("POST", &format!("element/{element}/value"), &json!({"text": text}));
    }

    /// The text that a user reads in an element.
    pub(crate) fn text(&self, selector: &str) -> String {
        let element = self.element(selector);
        self.command("GET", &format!("element/{element}/text"), &Value::Null).as_str().unwrap_or_default().to_owned()
    }

    /// What the page complained about.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.command("POST", "se/log", &json!({"type": "browser"}));
        let entries = log.as_array().cloned().unwrap_or_default();
        let text = |entry: &Value| entry["message"].as_str().unwrap_or_default().to_owned();
        entries.iter().map(text).filter(|message| !message.contains("favicon")).collect()
    }

    #[track_caller]
    fn element(&self, selector: &str) -> String {
        let found = self.command("POST", "element", &json!({"using": "css selector", "value": selector}));
        let id = found.as_object().and_then(|object| object.values().next()).and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("no {selector}: {found}")).to_owned()
    }

    #[track_caller]
    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        self.call(method, &format!("/session/{}/{path}", self.session), body)
    }

    #[track_caller]
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the driver listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time can be set");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).expect("the driver hears");
        let text = body_of(stream).expect("the driver answers");
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let value = value["value"].clone();
        assert!(value.get("error").is_none(), "{method} {path}: {}", value["message"]);
        value
    }
}

/// The body of an answer; its header says how long it is.
fn body_of(stream: TcpStream) -> std::io::Result<String> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().map_err(std::io::Error::other)?;
            }
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Without this the browser would outlive its driver, also after a failed test.
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            let _ = stream.set_read_timeout(Some(PATIENCE));
            let _ = write!(stream, "DELETE /session/{} HTTP/1.1\r\nHost: localhost\r\n\r\n", self.session);
            let _ = body_of(stream);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
