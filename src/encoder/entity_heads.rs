//! Task heads that learned entities together with an encoder: `entities.safetensors` beside its weights. With them the encoder
//! finds at once what it has learned to find, and a training need not begin with heads that know nothing.
//!
//! What the heads are is for the trainer to know; here they are tensors with names and a text that says the rest. Matrices have
//! 8 bits; see [`super::packed`].

use super::EncoderError;
use super::packed::pack;
use super::weights::{self, Weights};
use candle_core::Tensor;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The file's name.
pub(super) const ENTITIES: &str = "entities.safetensors";

/// What the text is called in the file.
const NOTE: &str = "note";

/// More than heads of a hundred labels above the widest encoders have.
pub(super) const MOST_BYTES: u64 = 1 << 30;

#[derive(Clone, Debug)]
pub struct EntityHeads {
    /// What the trainer has to know of them.
    pub note: String,
    /// By the names that the trainer gives them.
    pub tensors: BTreeMap<String, Tensor>,
}

impl EntityHeads {
    pub(super) fn to_file(&self) -> Result<Vec<u8>, EncoderError> {
        let mut all = Vec::new();
        for (name, tensor) in &self.tensors {
            all.extend(pack(name, name, tensor)?);
        }
        let note = HashMap::from([(NOTE.to_owned(), self.note.clone())]);
        let failed = |e| EncoderError::io("can't pack the weights", ENTITIES)(std::io::Error::other(e));
        safetensors::serialize(all, Some(note)).map_err(failed)
    }

    /// `path` is for messages.
    pub(super) fn read(bytes: &[u8], path: &Path) -> Result<Self, EncoderError> {
        let mut tensors = BTreeMap::new();
        let weights = Weights::of(bytes, path)?;
        for name in weights.names() {
            tensors.insert(name.to_owned(), weights.get(name)?);
        }
        Ok(Self { note: Self::read_note(bytes, path)?, tensors })
    }

    /// What the trainer has to know of them; the tensors are not unpacked. `path` is for messages.
    pub(super) fn read_note(bytes: &[u8], path: &Path) -> Result<String, EncoderError> {
        Weights::of(bytes, path)?;
        Ok(weights::note(bytes, NOTE).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    #[test]
    fn heads_come_back_nearly_as_they_were() {
        let tensor = |values: &[f32], shape: &[usize]| Tensor::from_slice(values, shape, &Device::Cpu).unwrap();
        let tensors = BTreeMap::from([
            ("head.bias".to_owned(), tensor(&[0.123, -4.0], &[2])),
            ("head.weight".to_owned(), tensor(&[0.5, -0.25, 1.0, 0.1, 0.2, -0.3], &[2, 3])),
        ]);
        let bytes = EntityHeads { note: "{}".to_owned(), tensors: tensors.clone() }.to_file().unwrap();
        let read = EntityHeads::read(&bytes, Path::new(ENTITIES)).unwrap();
        assert_eq!((read.note.as_str(), read.tensors.len()), ("{}", 2));
        for (name, tensor) in &tensors {
            let off = (&read.tensors[name] - tensor).unwrap().abs().unwrap().flatten_all().unwrap();
            assert!(off.max(0).unwrap().to_scalar::<f32>().unwrap() <= 0.005, "{name}");
        }
        let cut = EntityHeads::read(&bytes[..bytes.len() - 1], Path::new(ENTITIES)).unwrap_err();
        assert!(cut.to_string().contains(ENTITIES), "{cut}");
    }
}
