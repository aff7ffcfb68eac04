//! What lists say of an encoder.

use super::Kind;

/// One encoder for a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EncoderInfo {
    /// What commands and settings call it.
    pub name: String,
    pub display_name: String,
    pub built_in: bool,
    /// What a built-in one has read, in words: "English".
    pub languages: Option<&'static str>,
    /// Where the project has the model card of a built-in one.
    pub card: Option<&'static str>,
    pub pretrained: bool,
    /// `None` where it can't be read.
    pub kind: Option<Kind>,
    pub hidden: usize,
    pub layers: usize,
    /// Size of its weights on disk; 0 where there are none.
    pub weights_bytes: u64,
    /// Why it can't be used, where it can't.
    pub problem: Option<String>,
}
