//! The tools: what an assistant may ask for, and the run of this program that answers.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Map, Value, json};

use super::answers::{self, Answer};

/// The language on one page.
const LANGUAGE: &str = include_str!("language.md");
/// A search ends after this, if nothing else is said.
const TIME: &str = "10s";

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Finished,
    Cancelled,
}

/// Waits for a process, which the closure asks after, or says that it is to be ended.
pub(super) type Wait<'w> = &'w mut dyn FnMut(&mut dyn FnMut() -> bool) -> End;

/// A tool.
struct Tool {
    name: &'static str,
    about: &'static str,
    /// Whether it is given a model.
    has_model: bool,
    /// Its other arguments: name, JSON type, and what it is.
    arguments: &'static [(&'static str, &'static str, &'static str)],
    run: fn(&Arguments<'_>, Wait<'_>) -> Result<Option<Answer>, String>,
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "check",
        about: "Check the properties of a model: verdicts, a shortest counterexample with the reason, and what was covered; or the \
                errors of the model, with fixes as edits",
        has_model: true,
        arguments: &[
            ("constants", "object", "values of constants, by their names"),
            ("properties", "array", "check only these properties"),
            ("search", "string", "the engine; auto, if nothing is said"),
            ("time", "string", "the search ends after this, for example 30s; 10s, if nothing is said"),
            ("max_depth", "integer", "explore to at most this depth"),
            ("fairness", "string", "for LTL: weak or strong"),
        ],
        run: check,
    },
    Tool {
        name: "simulate",
        about: "Run a model at random: the steps and what they change",
        has_model: true,
        arguments: &[
            ("constants", "object", "values of constants, by their names"),
            ("steps", "integer", "at most so many steps; 20, if nothing is said"),
            ("seed", "integer", "another one is another run"),
        ],
        run: simulate,
    },
    Tool {
        name: "show",
        about: "Show a model as it was compiled: state variables and their bits, threads and their transitions",
        has_model: true,
        arguments: &[("constants", "object", "values of constants, by their names")],
        run: |arguments, wait| arguments.text_of(&["show"], &[], wait),
    },
    Tool {
        name: "format",
        about: "Format a model: its text in the usual form",
        has_model: true,
        arguments: &[],
        run: format,
    },
    Tool {
        name: "explain",
        about: "Explain the code of an error or a warning, with an example and its fix",
        has_model: false,
        arguments: &[("code", "string", "the code, for example E0020")],
        run: |arguments, wait| {
            let code = arguments.string("code")?.ok_or("`code` is missing, for example E0020")?;
            arguments.text_of(&["explain", code], &[], wait)
        },
    },
    Tool {
        name: "language",
        about: "The modelling language BIR on one page",
        has_model: false,
        arguments: &[],
        run: |_, _| Ok(Some(Answer::text(LANGUAGE.to_owned()).whole())),
    },
];

/// All tools, as the protocol lists them.
pub(super) fn list() -> Value {
    let of = |tool: &Tool| {
        let mut properties = Map::new();
        if tool.has_model {
            let text = "the text of the model; either this or `path`";
            properties.insert("text".into(), json!({ "type": "string", "description": text }));
            properties.insert("path".into(), json!({ "type": "string", "description": "a file with the model" }));
            let language = "of `text`: bir, if nothing is said";
            let languages = json!({ "type": "string", "enum": ["bir", "dve", "pml"], "description": language });
            properties.insert("language".into(), languages);
        }
        for (name, kind, about) in tool.arguments {
            properties.insert((*name).into(), json!({ "type": kind, "description": about }));
        }
        let long = "give the whole answer, not the first 2 kB of it";
        properties.insert("long".into(), json!({ "type": "boolean", "description": long }));
        json!({
            "name": tool.name,
            "description": tool.about,
            "inputSchema": { "type": "object", "properties": properties, "additionalProperties": false },
            "annotations": { "readOnlyHint": true },
        })
    };
    TOOLS.iter().map(of).collect()
}

/// Calls a tool. Nothing, if the call was cancelled; an error, if it cannot be what the assistant meant.
pub(super) fn call(params: &Value, wait: Wait<'_>) -> Result<Option<Value>, String> {
    let name = params["name"].as_str().ok_or("`name` is missing")?;
    let tool = TOOLS.iter().find(|tool| tool.name == name).ok_or_else(|| format!("there is no tool `{name}`"))?;
    let empty = Map::new();
    let given = match &params["arguments"] {
        Value::Null => &empty,
        Value::Object(given) => given,
        _ => return Err("`arguments` is an object".into()),
    };
    let is_known = |argument: &str| {
        argument == "long"
            || tool.has_model && ["text", "path", "language"].contains(&argument)
            || tool.arguments.iter().any(|(name, ..)| *name == argument)
    };
    if let Some(unknown) = given.keys().find(|argument| !is_known(argument)) {
        return Err(format!("`{name}` has no argument `{unknown}`"));
    }
    if tool.has_model && given.contains_key("text") == given.contains_key("path") {
        return Err("either `text` or `path` is given".into());
    }
    let arguments = Arguments(given);
    let is_long = given.get("long").and_then(Value::as_bool).unwrap_or(false);
    Ok((tool.run)(&arguments, wait)?.map(|answer| answer.result(is_long)))
}

/// What the assistant has given.
struct Arguments<'a>(&'a Map<String, Value>);

impl Arguments<'_> {
    fn string(&self, name: &str) -> Result<Option<&str>, String> {
        self.0.get(name).map(|value| value.as_str().ok_or_else(|| format!("`{name}` is a text"))).transpose()
    }

    fn number(&self, name: &str) -> Result<Option<u64>, String> {
        self.0
            .get(name)
            .map(|value| value.as_u64().ok_or_else(|| format!("`{name}` is a number from 0 on")))
            .transpose()
    }

    /// Constants, as options.
    fn constants(&self) -> Result<Vec<String>, String> {
        let Some(given) = self.0.get("constants") else { return Ok(Vec::new()) };
        let given = given.as_object().ok_or("`constants` is an object")?;
        let option = |(name, value): (&String, &Value)| match value {
            Value::String(text) => format!("--define={name}={text}"),
            value => format!("--define={name}={value}"),
        };
        Ok(given.iter().map(option).collect())
    }

    /// The model in a file, and the folder that this is in, if the text was given.
    fn model(&self) -> Result<(PathBuf, Option<Room>), String> {
        match (self.string("text")?, self.string("path")?) {
            (Some(text), None) => {
                let language = self.string("language")?.unwrap_or("bir");
                if !["bir", "dve", "pml"].contains(&language) {
                    return Err("`language` is bir, dve or pml".into());
                }
                let room = Room::new()?;
                let file = PathBuf::from(format!("model.{language}"));
                fs::write(room.0.join(&file), text).map_err(|error| format!("the model cannot be written: {error}"))?;
                Ok((file, Some(room)))
            }
            (None, Some(path)) if Path::new(path).is_dir() => Err(format!("`{path}` is a folder; `path` is one model")),
            (None, Some(path)) => Ok((PathBuf::from(path), None)),
            (Some(_), Some(_)) | (None, None) => Err("there is no model".into()),
        }
    }

    /// Runs this program with these words, the model if there is one, and options.
    fn run(&self, words: &[&str], options: &[String], wait: Wait<'_>) -> Result<Option<Ran>, String> {
        let has_model = self.0.contains_key("text") || self.0.contains_key("path");
        let (model, room) = if has_model { self.model().map(|(file, room)| (Some(file), room))? } else { (None, None) };
        let outputs = Room::new()?;
        let file =
            |name: &str| File::create(outputs.0.join(name)).map_err(|error| format!("no room for answers: {error}"));
        let program = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
        let mut command = Command::new(program);
        command.args(words).args(options);
        if let Some(model) = &model {
            command.arg("--").arg(model);
        }
        if let Some(room) = &room {
            command.current_dir(&room.0);
        }
        command.stdin(Stdio::null()).stdout(file("out")?).stderr(file("err")?);
        let mut child = Running(command.spawn().map_err(|error| format!("no process can be started: {error}"))?);
        if wait(&mut || child.0.try_wait().is_ok_and(|ended| ended.is_some())) == End::Cancelled {
            return Ok(None);
        }
        let code = child.0.wait().ok().and_then(|status| status.code());
        let read =
            |name: &str| fs::read(outputs.0.join(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = |name: &str| read(name).map_err(|error| format!("an answer was lost: {error}"));
        let source = room.as_ref().and_then(|room| fs::read_to_string(room.0.join(model.as_deref()?)).ok());
        Ok(Some(Ran { code, out: text("out")?, err: text("err")?, source }))
    }

    /// What a command prints, or why it prints nothing.
    fn text_of(&self, words: &[&str], options: &[String], wait: Wait<'_>) -> Result<Option<Answer>, String> {
        let options = [options, &self.constants()?].concat();
        let Some(ran) = self.run(words, &options, wait)? else { return Ok(None) };
        Ok(Some(match ran.code {
            Some(0 | 1) => Answer::text(ran.out),
            _ => Answer::error(ran.err),
        }))
    }
}

/// How a run of this program ended, and what it said; and the model, if it was given as a text.
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
    source: Option<String>,
}

fn check(arguments: &Arguments<'_>, wait: Wait<'_>) -> Result<Option<Answer>, String> {
    let mut options = arguments.constants()?;
    for (name, option) in [("search", "search"), ("fairness", "fairness")] {
        options.extend(arguments.string(name)?.map(|value| format!("--{option}={value}")));
    }
    options.push(format!("--time={}", arguments.string("time")?.unwrap_or(TIME)));
    options.extend(arguments.number("max_depth")?.map(|depth| format!("--max-depth={depth}")));
    if let Some(given) = arguments.0.get("properties") {
        for property in given.as_array().ok_or("`properties` is a list of names")? {
            let name = property.as_str().ok_or("`properties` is a list of names")?;
            options.push(format!("--property={name}"));
        }
    }
    let words = ["check", "--format=json", "--diagnostics=json", "--progress=off"];
    Ok(arguments.run(&words, &options, wait)?.map(|ran| answers::of_check(&ran)))
}

fn simulate(arguments: &Arguments<'_>, wait: Wait<'_>) -> Result<Option<Answer>, String> {
    let steps = arguments.number("steps")?.unwrap_or(20);
    let seed = arguments.number("seed")?.unwrap_or(0);
    let options = [format!("--steps={steps}"), format!("--seed={seed}"), "--time=10s".into()];
    arguments.text_of(&["simulate"], &options, wait)
}

fn format(arguments: &Arguments<'_>, wait: Wait<'_>) -> Result<Option<Answer>, String> {
    if arguments.0.contains_key("path") {
        return Err("give the text: files are not changed".into());
    }
    let ran = arguments.run(&["fmt"], &[], wait)?;
    Ok(ran.map(|ran| match (ran.code, ran.source) {
        (Some(0), Some(source)) => Answer::text(source).whole(),
        _ => Answer::error(ran.err),
    }))
}

/// A process, which ends with whoever waits for it.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder that is gone when it is no longer needed.
struct Room(PathBuf);

impl Room {
    fn new() -> Result<Self, String> {
        let mut drawn = [0; 8];
        getrandom::fill(&mut drawn).map_err(|error| format!("a folder has no name: {error}"))?;
        let path = std::env::temp_dir().join(format!("birk-mcp-{:016x}", u64::from_le_bytes(drawn)));
        let mut folder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        folder.create(&path).map_err(|error| format!("a folder for the model cannot be made: {error}"))?;
        Ok(Self(path))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all::<&Path>(&self.0);
    }
}
