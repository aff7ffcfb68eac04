//! Weights as they come from `model.safetensors`.

use super::error::GET_AGAIN;
use super::{EncoderConfig, EncoderError, Kind, packed};
use crate::nn::NnError;
use candle_core::safetensors::Load as _;
use candle_core::{DType, Device, Storage, Tensor};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors};
use std::collections::HashMap;
use std::path::Path;

/// Bytes of the list of weights that such a file begins with; those of large encoders have a hundred thousand.
const MOST_HEADER_BYTES: u64 = 16 << 20;

/// Bytes that a file with the weights of such an encoder can have: in double precision, with a head that has as many again.
pub(super) fn most_bytes(config: &EncoderConfig) -> u64 {
    const MOST_OF_ONE: u64 = 8;
    config.parameters().saturating_mul(2 * MOST_OF_ONE).saturating_add(256 << 20)
}

/// The weights that an encoder of this shape needs, as `f32` on the CPU, by the names that [`super::Bert`] gives them.
///
/// Others of the file (a pooler, a head for masked words) are left out. What is missing, of another shape or no finite
/// number is an error: later it would be one without a name, or a model that learns nothing. `path` is for messages.
pub(super) fn read(bytes: &[u8], config: &EncoderConfig, path: &Path) -> Result<HashMap<String, Tensor>, EncoderError> {
    let file = Weights::of(bytes, path)?.renamed(|name| plain_name(name, config.kind));
    let mut weights = HashMap::new();
    for (our_name, expected) in config.shapes() {
        let name = config.kind.name_in_file(&our_name);
        let tensor = file.get(&name)?;
        if tensor.dims() != expected {
            return Err(EncoderError::WeightShape {
                name,
                expected,
                got: tensor.dims().to_vec(),
                path: path.to_owned(),
            });
        }
        weights.insert(our_name, tensor);
    }
    Ok(weights)
}

/// The text of a name that stands beside the weights of a file.
pub(super) fn note(bytes: &[u8], name: &str) -> Option<String> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).ok()?;
    metadata.metadata().as_ref()?.get(name).cloned()
}

/// The weights of a file, of which only those that are asked for are unpacked.
pub(super) struct Weights<'a> {
    views: HashMap<String, TensorView<'a>>,
    path: &'a Path,
}

impl<'a> Weights<'a> {
    pub(super) fn of(bytes: &'a [u8], path: &'a Path) -> Result<Self, EncoderError> {
        if bytes.first_chunk().is_some_and(|length| u64::from_le_bytes(*length) > MOST_HEADER_BYTES) {
            return Err(not_readable(bytes, &SafeTensorError::HeaderTooLarge, path));
        }
        let file = SafeTensors::deserialize(bytes).map_err(|e| not_readable(bytes, &e, path))?;
        Ok(Self { views: file.iter().map(|(name, view)| (name.to_owned(), view)).collect(), path })
    }

    fn renamed(self, name: impl Fn(&str) -> String) -> Self {
        let views = self.views.into_iter().map(|(old, view)| (name(&old), view)).collect();
        Self { views, ..self }
    }

    /// Of all weights; factors are none.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let is_scales = |name: &str| packed::name_of_scales(name).is_some_and(|of| self.views.contains_key(of));
        self.views.keys().map(String::as_str).filter(move |name| !is_scales(name))
    }

    /// A weight as `f32` on the CPU.
    ///
    /// # Errors
    /// One that is missing, of a type that is none of weights, or no finite number.
    pub(super) fn get(&self, name: &str) -> Result<Tensor, EncoderError> {
        let Some(view) = self.views.get(name) else {
            return Err(EncoderError::MissingWeight { name: name.to_owned(), path: self.path.to_owned() });
        };
        let tensor = match self.views.get(&packed::scales_of(name)) {
            Some(scales) if packed::is_packed(view, scales) => packed::unpack(view, scales).map_err(|_| {
                let problem = format!("the weight {name:?} and its scales don't go together");
                EncoderError::bad_file(problem, GET_AGAIN, self.path)
            })?,
            _ => plain(name, view, self.path)?,
        };
        if !is_finite(&tensor)? {
            return Err(EncoderError::WeightNotFinite { name: name.to_owned(), path: self.path.to_owned() });
        }
        Ok(tensor)
    }
}

fn plain(name: &str, view: &TensorView<'_>, path: &Path) -> Result<Tensor, EncoderError> {
    if !matches!(view.dtype(), Dtype::F64 | Dtype::F32 | Dtype::F16 | Dtype::BF16) {
        let (name, expected, got) = (name.to_owned(), "F32, F16, BF16 and F64", view.dtype().to_string());
        return Err(EncoderError::WeightType { name, expected, got, path: path.to_owned() });
    }
    Ok(view.load(&Device::Cpu).and_then(|t| t.to_dtype(DType::F32)).map_err(NnError::from)?)
}

fn is_finite(tensor: &Tensor) -> Result<bool, NnError> {
    // In place: an embedding can have a hundred megabytes.
    let (storage, _) = tensor.storage_and_layout();
    match &*storage {
        Storage::Cpu(values) => Ok(values.as_slice::<f32>()?.iter().all(|value| value.is_finite())),
        _ => Ok(true), // weights are read on the CPU
    }
}

/// What is wrong with a file that is no safetensors file, said as a person knows it.
fn not_readable(bytes: &[u8], error: &SafeTensorError, path: &Path) -> EncoderError {
    let problem = if bytes.is_empty() {
        "the file is empty".to_owned()
    } else if bytes.starts_with(b"version https://git-lfs") {
        let problem = "the file only says where Git LFS keeps the weights";
        return EncoderError::bad_file(problem, "fetch them with \"git lfs pull\"", path);
    } else if matches!(error, SafeTensorError::MetadataIncompleteBuffer) {
        "the file is cut off, or something was added to its end".to_owned()
    } else {
        // It may quote the file.
        let said: String = error.to_string().chars().take(200).collect();
        format!("the file is cut off or no safetensors file ({said})")
    };
    EncoderError::bad_file(problem, GET_AGAIN, path)
}

/// The name of a weight without `bert.` or the like, and with the names that replaced TensorFlow's.
fn plain_name(name: &str, kind: Kind) -> String {
    let name = name.strip_prefix(kind.prefix()).unwrap_or(name);
    let renamed = |old: &str, new: &str| name.strip_suffix(old).map(|stem| format!("{stem}{new}"));
    renamed("LayerNorm.gamma", "LayerNorm.weight")
        .or_else(|| renamed("LayerNorm.beta", "LayerNorm.bias"))
        .unwrap_or_else(|| name.to_owned())
}
