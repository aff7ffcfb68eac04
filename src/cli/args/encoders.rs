//! `nestling encoders` as it is typed.

use super::common::Common;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(in crate::cli) struct Encoders {
    #[command(subcommand)]
    pub(in crate::cli) action: Option<EncoderAction>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Subcommand, Debug)]
pub(in crate::cli) enum EncoderAction {
    /// List the encoders that trainings can start from
    List {
        #[command(flatten)]
        common: Common,
    },
    /// Copy an encoder from a Hugging Face style folder, or make one of word vectors
    Import {
        /// Folder with config.json, a tokenizer and model.safetensors, or a file of word vectors (GloVe, word2vec)
        dir: PathBuf,
        /// Its name here
        #[arg(long)]
        name: String,
        #[command(flatten)]
        common: Common,
    },
    /// Download an encoder from the Hugging Face hub, or resume a download
    #[command(
        after_help = "Example: nestling encoders install sentence-transformers/all-MiniLM-L6-v2 --name minilm\n\n\
                      HF_ENDPOINT names another hub, HF_TOKEN grants access to private or gated models, and files that\n\
                      the Hugging Face libraries keep in HF_HOME are taken from there."
    )]
    Install {
        /// OWNER/NAME, or OWNER/NAME@REVISION
        repository: String,
        /// Its name here [default: the repository's name without the owner]
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Delete an imported encoder; models made from it keep working
    Remove {
        /// Its name in `encoders list`
        name: String,
        #[command(flatten)]
        common: Common,
    },
}
