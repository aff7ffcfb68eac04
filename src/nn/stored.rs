//! Weights as the program itself has written them, from a file that may have come from anybody.

use super::NnError;
use candle_core::{Device, Tensor};
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;

/// The tensors of a safetensors file, each of `f32` and of finite numbers.
///
/// What a file says of its tensors is checked against its length before anything is allocated for them.
///
/// # Errors
/// A file that is none, a tensor of another type, and the first tensor with a number that is not finite.
pub fn stored_tensors(bytes: &[u8]) -> Result<BTreeMap<String, Tensor>, NnError> {
    let file = SafeTensors::deserialize(bytes).map_err(|error| NnError::NoWeights { reason: error.to_string() })?;
    let mut tensors = BTreeMap::new();
    for (name, view) in file.iter() {
        if view.dtype() != Dtype::F32 {
            return Err(NnError::WeightType { name: name.to_owned(), got: view.dtype().to_string() });
        }
        let (numbers, _) = view.data().as_chunks::<4>();
        let values: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if !values.iter().all(|value| value.is_finite()) {
            return Err(NnError::WeightNotFinite { name: name.to_owned() });
        }
        tensors.insert(name.to_owned(), Tensor::from_vec(values, view.shape(), &Device::Cpu)?);
    }
    Ok(tensors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::tensor::TensorView;

    fn file(dtype: Dtype, shape: &[usize], data: &[u8]) -> Vec<u8> {
        let view = TensorView::new(dtype, shape.to_vec(), data).unwrap();
        safetensors::serialize([("head.w", view)], None).unwrap()
    }

    fn refused(bytes: &[u8]) -> String {
        stored_tensors(bytes).unwrap_err().to_string()
    }

    #[test]
    fn what_was_written_is_read_and_what_can_t_be_weights_is_refused_by_name() {
        let data: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let read = stored_tensors(&file(Dtype::F32, &[2, 1], &data)).unwrap();
        assert_eq!(read["head.w"].to_vec2::<f32>().unwrap(), [[1.5], [-2.0]]);
        let of_halves = refused(&file(Dtype::F16, &[4], &data));
        assert!(of_halves.contains("head.w") && of_halves.contains("F16"), "{of_halves}");
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let data: Vec<u8> = [1.5, value].iter().flat_map(|x: &f32| x.to_le_bytes()).collect();
            let not_finite = refused(&file(Dtype::F32, &[2], &data));
            assert!(not_finite.contains("head.w"), "{not_finite}");
        }
    }

    #[test]
    fn a_header_that_lies_allocates_nothing() {
        let with_header = |header: &str| -> Vec<u8> {
            let length = (header.len() as u64).to_le_bytes();
            length.iter().copied().chain(header.bytes()).chain([0; 8]).collect()
        };
        for header in [
            r#"{"w":{"dtype":"F32","shape":[4000000000,4000000000],"data_offsets":[0,8]}}"#,
            r#"{"w":{"dtype":"F32","shape":[18446744073709551615,2],"data_offsets":[0,8]}}"#,
            r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4000000000]}}"#,
            r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#,
            r#"{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#,
            r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#,
            "[]",
            "",
        ] {
            refused(&with_header(header));
        }
        refused(&u64::MAX.to_le_bytes());
        refused(b"");
    }
}
