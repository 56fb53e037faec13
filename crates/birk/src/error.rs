//! Why there is no answer.

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// What was asked cannot be had: of this model, of this engine, or with these options. The message says what to do instead.
    Refused(String),
    /// A model could not be read, for these reasons.
    Model(Vec<String>),
    /// A bug in Birk.
    Internal(String),
}

impl Error {
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Error::Refused(message.into())
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Refused(message) => f.write_str(message),
            Error::Model(reasons) => f.write_str(&reasons.join("\n")),
            Error::Internal(message) => write!(f, "{message}\nthis is a bug in Birk; please report it"),
        }
    }
}

impl std::error::Error for Error {}
