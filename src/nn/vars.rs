//! Named variables: declared once, in groups that the optimizer knows, saved and loaded whole.

use super::{NnError, Rng};
use crate::disk::{Hidden, NewFile};
use candle_core::{DType, Device, Tensor, Var};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// What decides the learning rate of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParameterGroup {
    Encoder,
    TaskHead,
}

/// The first value of a variable that no file gives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Init {
    Zeros,
    Ones,
    Normal {
        std: f32,
    },
    /// Uniform in `[-bound, bound]`.
    Uniform {
        bound: f32,
    },
}

/// A variable as the optimizer sees it.
#[derive(Clone, Debug)]
pub struct Variable {
    pub var: Var,
    pub part: ParameterGroup,
    /// Matrices decay; biases and norms don't.
    pub decays: bool,
}

/// All weights of one model, in the order of their names.
///
/// Either trainable (a declared variable starts with its value in the stock, or with its [`Init`]), or fixed (every
/// value must be in the stock, and nothing tracks gradients).
#[derive(Debug)]
pub struct Vars {
    variables: BTreeMap<String, Variable>,
    constants: BTreeMap<String, Tensor>,
    stock: HashMap<String, Tensor>,
    /// Whether a value of another shape in the stock is left there.
    fitting_only: bool,
    /// Whether every value must be in the stock, also of what trains.
    stocked_only: bool,
    kind: Kind,
    device: Device,
}

#[derive(Debug)]
enum Kind {
    Trainable { seed: u64 },
    Fixed,
}

impl Vars {
    pub fn trainable(seed: u64, device: &Device) -> Self {
        Self::with_kind(Kind::Trainable { seed }, HashMap::new(), device)
    }

    /// For prediction: everything that is declared must be among `tensors`.
    pub fn fixed(tensors: HashMap<String, Tensor>, device: &Device) -> Self {
        Self::with_kind(Kind::Fixed, tensors, device)
    }

    fn with_kind(kind: Kind, stock: HashMap<String, Tensor>, device: &Device) -> Self {
        Self {
            variables: BTreeMap::new(),
            constants: BTreeMap::new(),
            stock,
            fitting_only: false,
            stocked_only: false,
            kind,
            device: device.clone(),
        }
    }

    /// Values for variables that are still to be declared, by their full name.
    pub fn stock(&mut self, tensors: impl IntoIterator<Item = (String, Tensor)>) {
        self.stock.extend(tensors);
    }

    /// Takes from the stock only what has the shape that is declared; what has another begins anew.
    pub fn take_what_fits(&mut self) {
        self.fitting_only = true;
    }

    /// Takes all values from the stock: one that is missing is an error, also of what trains.
    pub fn take_only_stock(&mut self) {
        self.stocked_only = true;
    }

    /// # Errors
    /// The first value of the stock that nothing was declared for.
    pub fn check_all_taken(&self) -> Result<(), NnError> {
        match self.stock.keys().min() {
            Some(name) => Err(NnError::WeightUnused { name: name.clone() }),
            None => Ok(()),
        }
    }

    /// # Errors
    /// The first value with a number that is not finite.
    pub fn check_finite(&self) -> Result<(), NnError> {
        for (name, tensor) in self.tensors() {
            // One that is not finite makes the sum so, and weights don't add up to more than f32 holds.
            let sum = tensor.detach().abs()?.sum_all()?.to_scalar::<f32>()?;
            if !sum.is_finite() {
                return Err(NnError::WeightNotFinite { name: name.to_owned() });
            }
        }
        Ok(())
    }

    /// Where what is declared from now on lies.
    pub fn move_to(&mut self, device: &Device) {
        self.device = device.clone();
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A place to declare variables whose names begin with `name.`.
    pub fn scope(&mut self, name: &str, part: ParameterGroup) -> Scope<'_> {
        Scope { vars: self, path: name.to_owned(), part, frozen: false }
    }

    /// What trains, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Variable)> {
        self.variables.iter().map(|(name, v)| (name.as_str(), v))
    }

    /// How many numbers the model consists of, frozen ones included.
    pub fn parameters(&self) -> usize {
        self.tensors().map(|(_, t)| t.elem_count()).sum()
    }

    fn tensors(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        let variables = self.variables.iter().map(|(name, v)| (name.as_str(), v.var.as_tensor()));
        variables.chain(self.constants.iter().map(|(name, t)| (name.as_str(), t)))
    }

    /// All values as they are now, for reading before the next step: they share their storage with the variables.
    pub fn values(&self) -> BTreeMap<String, Tensor> {
        self.tensors().map(|(name, t)| (name.to_owned(), t.detach())).collect()
    }

    /// A copy of all values, which later steps don't change.
    ///
    /// # Errors
    /// When a tensor can't be copied.
    pub fn copy_out(&self) -> Result<BTreeMap<String, Tensor>, NnError> {
        self.tensors().map(|(name, t)| Ok((name.to_owned(), t.detach().copy()?))).collect()
    }

    /// Copies of all values, mixed into others: a share of these, the rest of those.
    ///
    /// # Errors
    /// The first value that the others lack.
    pub fn mixed(&self, others: &BTreeMap<String, Tensor>, share: f64) -> Result<BTreeMap<String, Tensor>, NnError> {
        let mix = |(name, value): (&str, &Tensor)| {
            let other = others.get(name).ok_or_else(|| NnError::MissingWeight { name: name.to_owned() })?;
            let other = (other.to_device(&self.device)? * (1.0 - share))?;
            Ok((name.to_owned(), (other + (value.detach() * share)?)?))
        };
        self.tensors().map(mix).collect()
    }

    /// Sets all variables to the values of a copy.
    ///
    /// # Errors
    /// The first variable that the copy lacks or holds in another shape; earlier ones are set then.
    pub fn copy_in(&self, tensors: &BTreeMap<String, Tensor>) -> Result<(), NnError> {
        for (name, variable) in &self.variables {
            let value = tensors.get(name).ok_or_else(|| NnError::MissingWeight { name: name.clone() })?;
            check_shape(name, variable.var.dims(), value)?;
            variable.var.set(&value.to_device(&self.device)?)?;
        }
        Ok(())
    }

    fn declare(
        &mut self,
        name: String,
        shape: &[usize],
        init: Init,
        part: ParameterGroup,
        frozen: bool,
    ) -> Result<Tensor, NnError> {
        self.declare_with(name, shape, part, frozen, |vars, seed, name| init.tensor(seed, name, shape, &vars.device))
    }

    /// Declares what `first` gives the first value of, where the stock has none and need not.
    fn declare_with(
        &mut self,
        name: String,
        shape: &[usize],
        part: ParameterGroup,
        frozen: bool,
        first: impl FnOnce(&Self, u64, &str) -> Result<Tensor, NnError>,
    ) -> Result<Tensor, NnError> {
        if self.variables.contains_key(&name) || self.constants.contains_key(&name) {
            return Err(NnError::DeclaredTwice(name));
        }
        let stocked = self.stock.remove(&name).filter(|value| !self.fitting_only || value.dims() == shape);
        if let Some(value) = &stocked {
            check_shape(&name, shape, value)?;
        }
        let value = match (&self.kind, stocked) {
            (_, Some(value)) => value.to_dtype(DType::F32)?.to_device(&self.device)?,
            (Kind::Trainable { seed }, None) if !self.stocked_only => first(self, *seed, &name)?,
            (_, None) => return Err(NnError::MissingWeight { name }),
        };
        if frozen || matches!(self.kind, Kind::Fixed) {
            self.constants.insert(name, value.clone());
            return Ok(value);
        }
        let variable = Variable { var: Var::from_tensor(&value)?, part, decays: shape.len() > 1 };
        let tensor = variable.var.as_tensor().clone();
        self.variables.insert(name, variable);
        Ok(tensor)
    }
}

impl Init {
    /// Depends on the seed and the name alone, not on what else was declared before.
    fn tensor(self, seed: u64, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, NnError> {
        let mut rng = Rng::new(seed, name);
        let count = shape.iter().product();
        let values: Vec<f32> = match self {
            Self::Zeros => vec![0.0; count],
            Self::Ones => vec![1.0; count],
            Self::Normal { std } => (0..count).map(|_| std * rng.normal()).collect(),
            Self::Uniform { bound } => (0..count).map(|_| bound * (2.0 * rng.unit() - 1.0)).collect(),
        };
        Ok(Tensor::from_vec(values, shape, device)?)
    }
}

/// Where a layer declares its variables: a prefix of names and a part.
#[derive(Debug)]
pub struct Scope<'a> {
    vars: &'a mut Vars,
    path: String,
    part: ParameterGroup,
    frozen: bool,
}

impl Scope<'_> {
    pub fn scope(&mut self, name: &str) -> Scope<'_> {
        Scope { path: format!("{}.{name}", self.path), part: self.part, frozen: self.frozen, vars: self.vars }
    }

    /// The same place, where variables get no gradient and never move if `frozen`.
    pub fn frozen_if(self, frozen: bool) -> Self {
        Self { frozen: self.frozen || frozen, ..self }
    }

    /// The same place, where variables learn as others of `part` do.
    pub fn in_group(self, part: ParameterGroup) -> Self {
        Self { part, ..self }
    }

    /// Declares a variable whose first value is that of another tensor of the model: a copy, which moves on its own. Where
    /// the stock has a value (a snapshot's, or a checkpoint's), it is that one, and the other does not matter.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub fn declare_copy(&mut self, name: &str, of: &Tensor) -> Result<Tensor, NnError> {
        let (name, shape) = (format!("{}.{name}", self.path), of.dims());
        let copy = |vars: &Vars, _: u64, _: &str| Ok(of.detach().copy()?.to_device(&vars.device)?);
        self.vars.declare_with(name, shape, self.part, self.frozen, copy)
    }

    /// # Errors
    /// When the name is taken, or the value in the stock is missing or has another shape.
    pub fn declare(&mut self, name: &str, shape: &[usize], init: Init) -> Result<Tensor, NnError> {
        self.vars.declare(format!("{}.{name}", self.path), shape, init, self.part, self.frozen)
    }
}

fn check_shape(name: &str, expected: &[usize], value: &Tensor) -> Result<(), NnError> {
    if value.dims() == expected {
        return Ok(());
    }
    let (expected, got) = (expected.to_vec(), value.dims().to_vec());
    Err(NnError::WeightShape { name: name.to_owned(), expected, got })
}

/// Writes a safetensors file beside its place, syncs it and renames it: after a crash there is the old file or the
/// new one, never a half.
///
/// # Errors
/// When a tensor can't be read or the file can't be written.
pub fn write_tensors(path: &Path, tensors: &BTreeMap<String, Tensor>) -> Result<(), NnError> {
    write(path, tensors, None)
}

/// The same with a text beside the tensors, in the same file.
///
/// # Errors
/// See [`write_tensors`].
pub fn write_tensors_and_note(path: &Path, tensors: &BTreeMap<String, Tensor>, note: &str) -> Result<(), NnError> {
    write(path, tensors, Some(HashMap::from([(NOTE.to_owned(), note.to_owned())])))
}

/// What the text beside the tensors is called in the file.
const NOTE: &str = "note";

fn write(
    path: &Path,
    tensors: &BTreeMap<String, Tensor>,
    metadata: Option<HashMap<String, String>>,
) -> Result<(), NnError> {
    let written = || -> std::io::Result<()> {
        let new = NewFile::beside(path, Hidden::UNFINISHED)?;
        // One tensor after the other: the whole file is never in memory.
        safetensors::serialize_to_file(tensors.iter().map(|(name, t)| (name.as_str(), t)), metadata, new.path())
            .map_err(std::io::Error::other)?;
        new.put()
    };
    written().map_err(|source| NnError::Write { path: path.to_owned(), source })
}

/// The tensors of a safetensors file, on the CPU.
///
/// # Errors
/// When the file can't be read or is none.
pub fn read_tensors(path: &Path) -> Result<HashMap<String, Tensor>, NnError> {
    Ok(read(path)?.0)
}

/// The tensors of a file, and the text beside them if there is one.
fn read(path: &Path) -> Result<(HashMap<String, Tensor>, Option<String>), NnError> {
    let failed = |reason: String| NnError::Read { path: path.to_owned(), reason };
    let bytes = std::fs::read(path).map_err(|e| failed(e.to_string()))?;
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).map_err(|e| failed(e.to_string()))?;
    let tensors = candle_core::safetensors::load_buffer(&bytes, &Device::Cpu).map_err(|e| failed(e.to_string()))?;
    Ok((tensors, header.metadata().as_ref().and_then(|texts| texts.get(NOTE)).cloned()))
}

/// The tensors of a file that [`write_tensors_and_note`] wrote, and the text beside them.
///
/// # Errors
/// When the file can't be read, is none, or has no such text.
pub fn read_tensors_and_note(path: &Path) -> Result<(HashMap<String, Tensor>, String), NnError> {
    let (tensors, note) = read(path)?;
    let lacking =
        || NnError::Read { path: path.to_owned(), reason: "it lacks what belongs beside its weights".to_owned() };
    Ok((tensors, note.ok_or_else(lacking)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Vars {
        let mut vars = Vars::trainable(5, &Device::Cpu);
        vars.scope("b", ParameterGroup::TaskHead).declare("w", &[2, 3], Init::Normal { std: 1.0 }).unwrap();
        vars.scope("a", ParameterGroup::Encoder).scope("x").declare("bias", &[3], Init::Zeros).unwrap();
        vars
    }

    fn values(vars: &Vars) -> Vec<(String, Vec<f32>)> {
        let copy = vars.copy_out().unwrap();
        copy.into_iter().map(|(n, t)| (n, t.flatten_all().unwrap().to_vec1().unwrap())).collect()
    }

    #[test]
    fn order_is_by_name_and_values_depend_on_seed_and_name_only() {
        let vars = small();
        let names: Vec<&str> = vars.iter().map(|(n, _)| n).collect();
        assert_eq!(names, ["a.x.bias", "b.w"]);
        assert!(!vars.iter().next().unwrap().1.decays);
        let mut alone = Vars::trainable(5, &Device::Cpu);
        alone.scope("b", ParameterGroup::TaskHead).declare("w", &[2, 3], Init::Normal { std: 1.0 }).unwrap();
        assert_eq!(values(&alone)[0], values(&vars)[1]);
        assert_eq!(vars.parameters(), 9);
    }

    #[test]
    fn files_round_trip_and_copies_don_t_follow() {
        let vars = small();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("weights.safetensors");
        let before = vars.copy_out().unwrap();
        write_tensors(&path, &before).unwrap();
        let variable = vars.iter().nth(1).unwrap().1.var.clone();
        variable.set(&variable.affine(2.0, 1.0).unwrap()).unwrap();
        let moved = values(&vars);
        vars.copy_in(&before).unwrap();
        assert_ne!(values(&vars), moved);
        let mut fixed = Vars::fixed(read_tensors(&path).unwrap(), &Device::Cpu);
        fixed.scope("b", ParameterGroup::TaskHead).declare("w", &[2, 3], Init::Zeros).unwrap();
        fixed.scope("a", ParameterGroup::Encoder).scope("x").declare("bias", &[3], Init::Zeros).unwrap();
        assert_eq!(values(&fixed), values(&vars));
        assert_eq!(fixed.iter().count(), 0, "a fixed model has nothing to train");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file stays");
    }

    #[test]
    fn values_are_mixed_by_their_shares() {
        let vars = small();
        let (others, before) = (vars.copy_out().unwrap(), values(&vars));
        let variable = vars.iter().nth(1).unwrap().1.var.clone();
        variable.set(&variable.affine(5.0, 0.0).unwrap()).unwrap();
        let mixed = vars.mixed(&others, 0.25).unwrap();
        assert!(vars.mixed(&BTreeMap::new(), 0.5).is_err());
        vars.copy_in(&mixed).unwrap();
        for (got, before) in values(&vars)[1].1.iter().zip(&before[1].1) {
            assert!((got - 2.0 * before).abs() < 1e-6, "three quarters of 1 and one of 5: {got} {before}");
        }
    }

    #[test]
    fn a_copy_begins_as_its_original_and_moves_on_its_own() {
        let mut vars = small();
        let original = vars.iter().nth(1).unwrap().1.var.as_tensor().clone();
        let copy =
            vars.scope("c", ParameterGroup::TaskHead).in_group(ParameterGroup::Encoder).declare_copy("w", &original);
        let numbers = |tensor: &Tensor| tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let copy = copy.unwrap();
        assert_eq!(numbers(&copy), numbers(&original));
        let (name, variable) = vars.iter().nth(2).unwrap();
        assert_eq!((name, variable.part, variable.decays), ("c.w", ParameterGroup::Encoder, true));
        variable.var.set(&variable.var.affine(2.0, 1.0).unwrap()).unwrap();
        assert_ne!(numbers(&copy), numbers(&original));

        // What is in the stock goes before the original, and has to be there for a fixed model.
        let stocked = Tensor::ones((2, 3), DType::F32, &Device::Cpu).unwrap();
        let mut fixed = Vars::fixed(HashMap::from([("c.w".to_owned(), stocked)]), &Device::Cpu);
        let loaded = fixed.scope("c", ParameterGroup::TaskHead).declare_copy("w", &original).unwrap();
        assert_eq!(numbers(&loaded), [1.0; 6]);
        assert!(fixed.scope("d", ParameterGroup::TaskHead).declare_copy("w", &original).is_err());
    }

    #[test]
    fn wrong_weights_are_named() {
        let mut fixed = Vars::fixed(HashMap::new(), &Device::Cpu);
        let missing = fixed.scope("b", ParameterGroup::TaskHead).declare("w", &[1], Init::Zeros).unwrap_err();
        assert!(missing.to_string().contains("\"b.w\""), "{missing}");
        let mut vars = Vars::trainable(1, &Device::Cpu);
        vars.stock([("b.w".to_owned(), Tensor::zeros((2, 2), DType::F32, &Device::Cpu).unwrap())]);
        let shape = vars.scope("b", ParameterGroup::TaskHead).declare("w", &[2, 3], Init::Zeros).unwrap_err();
        assert!(shape.to_string().contains("[2, 2], expected [2, 3]"), "{shape}");
    }

    #[test]
    fn a_file_that_is_none_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"not weights").unwrap();
        assert!(matches!(read_tensors(file.path()), Err(NnError::Read { .. })));
    }
}
