//! All open texts, and what is computed of them: at most once for each version, and only when somebody asks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use birk_ir::Conditions;
use lsp_types::{TextDocumentContentChangeEvent, TextDocumentItem, Uri};

use crate::check::{Checked, checked};
use crate::document::Document;
use crate::language::{BIR, Language, ReadFile};
use crate::tree::{Tree, beside};

/// The open texts.
pub(crate) struct Documents<'s> {
    languages: &'s [Language],
    read: ReadFile<'s>,
    open: BTreeMap<Uri, Document>,
    /// The texts whose diagnostics the editor does not have yet.
    pub(crate) unpublished: Vec<Uri>,
}

impl<'s> Documents<'s> {
    pub(crate) fn new(languages: &'s [Language], read: ReadFile<'s>) -> Self {
        Self { languages, read, open: BTreeMap::new(), unpublished: Vec::new() }
    }

    pub(crate) fn get(&self, uri: &Uri) -> Option<&Document> {
        self.open.get(uri)
    }

    pub(crate) fn language(&self, document: &Document) -> &Language {
        &self.languages[document.language]
    }

    /// The language of a text: by its file's extension, then by what the editor calls it.
    fn language_of(&self, uri: &Uri, called: &str) -> usize {
        let path = PathBuf::from(uri.as_str());
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let by_extension = self.languages.iter().position(|language| language.extensions.contains(&extension));
        let by_name = || self.languages.iter().position(|language| language.name.eq_ignore_ascii_case(called));
        by_extension.or_else(by_name).unwrap_or(0)
    }

    pub(crate) fn open(&mut self, item: TextDocumentItem) {
        let language = self.language_of(&item.uri, &item.language_id);
        let document = Document::new(item.uri.clone(), language, item.version, item.text);
        self.open.insert(item.uri.clone(), document);
        self.changed(&item.uri);
    }

    pub(crate) fn change(&mut self, uri: &Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        if let Some(document) = self.open.get_mut(uri) {
            document.change(version, changes);
            self.changed(uri);
        }
    }

    /// Forgets a text; answers whether it was open. Texts that import it now import the stored file.
    pub(crate) fn close(&mut self, uri: &Uri) -> bool {
        self.changed(uri);
        self.unpublished.retain(|other| other != uri);
        self.open.remove(uri).is_some()
    }

    /// Marks a text and all that import it as changed.
    pub(crate) fn changed(&mut self, uri: &Uri) {
        let path = crate::uri::path_of(uri).map(|path| crate::uri::plain(&path));
        for (other, document) in &mut self.open {
            let imports_it = path.as_ref().is_some_and(|path| document.imports.contains(path));
            if imports_it || other == uri {
                document.forget();
                self.unpublished.retain(|waiting| waiting != other);
                self.unpublished.push(other.clone());
            }
        }
    }

    /// The text of a file, as the editor has it or as it is stored.
    fn text_of(&self, path: &Path) -> Result<String, String> {
        let is_it = |document: &&Document| document.path.as_deref() == Some(path);
        match self.open.values().find(is_it) {
            Some(document) => Ok(document.text.clone()),
            None => (self.read)(path),
        }
    }

    /// Gives the texts of imported files, and notes which were asked for.
    fn import(&self, document: &Document, asked: &RefCell<Vec<PathBuf>>, name: &str) -> Result<String, String> {
        let path = beside(document.path.as_ref(), name).ok_or("the model is not stored in a file yet")?;
        asked.borrow_mut().push(path.clone());
        self.text_of(&path)
    }

    /// What the front end says of another text in place of an open one.
    pub(crate) fn check_text(&self, document: &Document, text: &str) -> birk_ir::Loaded {
        let asked = RefCell::default();
        let mut import = |name: &str| self.import(document, &asked, name);
        (self.language(document).load)(text, &[], &mut import, Conditions::default())
    }

    /// What the front end says of a text.
    pub(crate) fn check(&mut self, uri: &Uri) -> Option<Rc<Checked>> {
        let document = self.open.get(uri)?;
        if let Some(checked) = &document.checked {
            return Some(Rc::clone(checked));
        }
        let asked = RefCell::default();
        let mut import = |name: &str| self.import(document, &asked, name);
        let loaded = (self.language(document).load)(&document.text, &[], &mut import, Conditions::default());
        let (found, facts) = checked(loaded);
        let found = Rc::new(found);
        let document = self.open.get_mut(uri)?;
        document.checked = Some(Rc::clone(&found));
        document.imports = asked.into_inner();
        if let Some(facts) = facts {
            document.facts = facts;
        }
        Some(found)
    }

    /// The tree of a text in BIR.
    pub(crate) fn tree(&mut self, uri: &Uri) -> Option<Rc<Tree>> {
        let document = self.open.get(uri).filter(|document| self.language(document).name == BIR)?;
        if let Some(tree) = &document.tree {
            return Some(Rc::clone(tree));
        }
        let tree = Rc::new(self.tree_of(document, &document.text));
        self.open.get_mut(uri)?.tree = Some(Rc::clone(&tree));
        Some(tree)
    }

    /// The tree of another text in place of an open one.
    pub(crate) fn tree_of(&self, document: &Document, text: &str) -> Tree {
        let asked = RefCell::default();
        Tree::of(text, &mut |name| self.import(document, &asked, name))
    }
}
