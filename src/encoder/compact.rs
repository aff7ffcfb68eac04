//! An encoder with weights of fewer bits, so that it fits into the program: `compact.safetensors` beside config.json; see
//! [`super::packed`].

use super::folder::{COMPACT, write_file};
use super::packed::{PackedWeight, pack};
use super::weights::read;
use super::{Encoder, EncoderError};
use crate::nn::NnError;
use std::path::Path;

impl Encoder {
    /// Writes config.json, the tokenizer's files and compact.safetensors into an empty folder, and the heads if there are any.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write_compact(&self, folder: &Path) -> Result<(), EncoderError> {
        self.definition().write(folder)?;
        write_file(&folder.join(COMPACT), &self.packed_file()?)?;
        self.write_heads(folder)
    }

    /// The same encoder with the weights that it has when it is read from a compact file, and its heads as they are.
    ///
    /// # Errors
    /// When it has no weights.
    pub fn rounded(&self) -> Result<Self, EncoderError> {
        let bytes = self.packed_file()?;
        let rounded = self.with_weights(read(&bytes, self.definition().config(), Path::new(COMPACT))?);
        // What learned with the weights fits those that are nearly the same.
        Ok(match self.entity_heads() {
            Some(heads) => rounded.with_entity_heads(heads.clone()),
            None => rounded,
        })
    }

    fn packed_file(&self) -> Result<Vec<u8>, EncoderError> {
        let failed = |e| EncoderError::io("can't pack the weights", COMPACT)(std::io::Error::other(e));
        safetensors::serialize(self.packed()?, None).map_err(failed)
    }

    fn packed(&self) -> Result<Vec<(String, PackedWeight)>, EncoderError> {
        let mut all = Vec::new();
        for (our_name, _) in self.definition().config().shapes() {
            let lacking = || NnError::MissingWeight { name: our_name.clone() };
            let tensor = self.weights().get(&our_name).ok_or_else(lacking)?;
            let name = self.definition().config().kind.name_in_file(&our_name);
            all.extend(pack(&name, &our_name, tensor)?);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::EntityHeads;
    use crate::encoder::tests::fixtures;
    use std::collections::BTreeMap;

    #[test]
    fn a_compact_encoder_is_nearly_what_it_was_made_from() {
        let whole = Encoder::open(&fixtures().join("tiny-bert")).unwrap();
        let dir = tempfile::tempdir().unwrap();
        whole.write_compact(dir.path()).unwrap();
        let compact = Encoder::open(dir.path()).unwrap();
        assert_eq!(compact.definition().config(), whole.definition().config());
        for (name, tensor) in whole.weights() {
            let off = (&compact.weights()[name] - tensor).unwrap().abs().unwrap().max_all().unwrap();
            let largest = tensor.abs().unwrap().max_all().unwrap().to_scalar::<f32>().unwrap();
            let off = off.to_scalar::<f32>().unwrap();
            assert!(off <= largest / 100.0, "{name}: {off} of {largest}");
            assert!(tensor.dims().len() > 1 || off == 0.0, "{name} stays as it is");
        }
        let heads = EntityHeads { note: "heads".to_owned(), tensors: BTreeMap::new() };
        let rounded = whole.with_entity_heads(heads).rounded().unwrap();
        assert_eq!(rounded.entity_heads().map(|heads| heads.note.as_str()), Some("heads"));
    }
}
