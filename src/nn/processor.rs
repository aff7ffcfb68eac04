//! What does the tensor work.

use super::Operations;
use candle_core::Device;

/// The processor that a model runs on, and by which operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Processor {
    /// By passes written by hand.
    #[default]
    Cpu,
    /// By candle's operations.
    Gpu,
    /// By candle's operations on the CPU: what a GPU computes, slowly.
    Plain,
}

impl Processor {
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Gpu, Self::Plain];

    pub const fn id(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Plain => "plain",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|processor| processor.id() == id)
    }

    pub fn operations(self) -> Operations {
        match self {
            Self::Cpu => Operations::ByHand,
            Self::Gpu | Self::Plain => Operations::Plain,
        }
    }

    /// Whether this build could use a GPU: it has candle's feature `cuda` or `metal`.
    pub fn knows_gpus() -> bool {
        cfg!(any(feature = "cuda", feature = "metal"))
    }

    /// The device to work on; of a GPU that can't be used the reason why. Each call makes one of its own, with one stream:
    /// whichever thread asks, its operations follow each other in the order in which they are asked for.
    ///
    /// # Errors
    /// When there is no GPU, or its driver refuses.
    pub fn device(self) -> Result<Device, String> {
        match self {
            Self::Cpu | Self::Plain => Ok(Device::Cpu),
            Self::Gpu => first_gpu(),
        }
    }
}

#[cfg(feature = "cuda")]
fn first_gpu() -> Result<Device, String> {
    // `Device::new_cuda` takes the stream of whichever thread calls, but steps change threads, and one could read what
    // another still writes.
    Device::new_cuda_with_stream(0).map_err(|e| e.to_string())
}

#[cfg(all(feature = "metal", not(feature = "cuda")))]
fn first_gpu() -> Result<Device, String> {
    Device::new_metal(0).map_err(|e| e.to_string())
}

#[cfg(not(any(feature = "cuda", feature = "metal")))]
fn first_gpu() -> Result<Device, String> {
    Err("this program was built without GPU support (its features cuda and metal)".to_owned())
}
