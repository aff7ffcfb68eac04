//! Which instructions the kernels may use: the best that the processor has, or fewer where the environment says so.
//!
//! # Invariants
//! - There is a value only of what the processor was found to have, so a safe function that is given one may call what is
//!   compiled for it.
//! - The library `gemm` asks the processor itself; only a build for another processor limits it.

use crate::nn::NnError;
use std::sync::OnceLock;
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{HasAmx, HasAvx2, HasAvx512, HasBf16};

/// The environment variable that limits the instructions.
const VARIABLE: &str = "NESTLING_KERNELS";

/// Instructions that kernels are compiled for, each with what those before it have.
#[derive(Clone, Copy, Debug)]
pub enum InstructionSet {
    /// What every processor of this kind has: SSE2 on x86-64, NEON on 64-bit ARM.
    Plain,
    /// With fused multiplication and addition.
    #[cfg(target_arch = "x86_64")]
    Avx2(HasAvx2),
    /// F, BW, DQ and VL, and `vdpbf16ps` where it is there.
    #[cfg(target_arch = "x86_64")]
    Avx512(HasAvx512),
    /// Tiles for products in bfloat16, AVX-512 for all else.
    #[cfg(target_arch = "x86_64")]
    Amx(HasAmx),
}

impl InstructionSet {
    /// Names that [`Self::from_name`] knows.
    pub const NAMES: [&str; 6] = ["plain", "avx2", "avx512", "amx", "neon", "auto"];

    /// The one that kernels use unless they are given another: see [`Self::from_environment`].
    ///
    /// # Panics
    /// When the environment asks for what is unknown or not there: it would be no check of it to use another.
    #[inline]
    pub fn chosen() -> Self {
        static CHOSEN: OnceLock<InstructionSet> = OnceLock::new();
        *CHOSEN.get_or_init(Self::from_environment_or_panic)
    }

    #[cold]
    #[expect(clippy::panic, reason = "the program asks `from_environment` first and reports what is wrong")]
    fn from_environment_or_panic() -> Self {
        Self::from_environment().unwrap_or_else(|e| panic!("{e}"))
    }

    /// What `NESTLING_KERNELS` names; without it the best of this processor.
    ///
    /// # Errors
    /// On an unknown name, and where the processor lacks what is named.
    pub fn from_environment() -> Result<Self, NnError> {
        let name = std::env::var_os(VARIABLE).unwrap_or_default();
        Self::from_name(&name.to_string_lossy())
    }

    /// `auto` and the empty name are the best of this processor.
    ///
    /// # Errors
    /// On an unknown name, and where the processor lacks what is named.
    pub fn from_name(name: &str) -> Result<Self, NnError> {
        let all = Self::all();
        match name {
            "" | "auto" => return Ok(all.last().copied().unwrap_or(Self::Plain)),
            "neon" if cfg!(target_arch = "aarch64") => return Ok(Self::Plain),
            _ => {}
        }
        if let Some(set) = all.iter().find(|set| set.name() == name) {
            return Ok(*set);
        }
        let name = name.to_owned();
        if Self::NAMES.contains(&name.as_str()) {
            let has = all.iter().map(|set| set.name()).collect::<Vec<_>>().join(", ");
            return Err(NnError::KernelsMissing { name, has });
        }
        Err(NnError::KernelsUnknown { name })
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Self::Amx(_) => "amx",
        }
    }

    /// All that this processor has, the best last.
    pub fn all() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        let more =
            [HasAvx2::detect().map(Self::Avx2), HasAvx512::detect().map(Self::Avx512), HasAmx::detect().map(Self::Amx)];
        #[cfg(not(target_arch = "x86_64"))]
        let more: [Option<Self>; 0] = [];
        std::iter::once(Self::Plain).chain(more.into_iter().flatten()).collect()
    }

    /// AVX2, where this set has it.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn avx2(self) -> Option<HasAvx2> {
        match self {
            Self::Plain => None,
            Self::Avx2(has) => Some(has),
            Self::Avx512(has) => Some(has.avx2()),
            Self::Amx(has) => Some(has.avx512().avx2()),
        }
    }

    /// Products of bfloat16 by AVX-512, where this set and the processor have them.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn bf16(self) -> Option<HasBf16> {
        match self {
            Self::Plain | Self::Avx2(_) => None,
            Self::Avx512(_) => HasBf16::detect(),
            Self::Amx(has) => Some(has.bf16()),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::asm;
    use std::arch::x86_64::__cpuid_count;
    use std::sync::OnceLock;

    /// The processor has AVX2 and FMA.
    #[derive(Clone, Copy, Debug)]
    pub struct HasAvx2(());

    impl HasAvx2 {
        pub(super) fn detect() -> Option<Self> {
            (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Self(()))
        }
    }

    /// The processor has AVX-512 F, BW, DQ and VL, AVX2 and FMA.
    #[derive(Clone, Copy, Debug)]
    pub struct HasAvx512(());

    impl HasAvx512 {
        pub(super) fn avx2(self) -> HasAvx2 {
            HasAvx2(())
        }

        pub(super) fn detect() -> Option<Self> {
            let has = HasAvx2::detect().is_some()
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            has.then_some(Self(()))
        }
    }

    /// The processor has AVX-512 F, BW and BF16.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct HasBf16(());

    impl HasBf16 {
        pub(super) fn detect() -> Option<Self> {
            let has = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512bf16");
            has.then_some(Self(()))
        }
    }

    /// The processor has AMX for bfloat16, the operating system lets this process use it, and AVX-512 with BF16 is there.
    #[derive(Clone, Copy, Debug)]
    pub struct HasAmx(());

    impl HasAmx {
        pub(super) fn detect() -> Option<Self> {
            static HAS: OnceLock<bool> = OnceLock::new();
            let has = *HAS.get_or_init(|| {
                // Bits of leaf 7: AMX-BF16 and AMX-TILE.
                HasBf16::detect().is_some()
                    && HasAvx512::detect().is_some()
                    && [22, 24].iter().all(|bit| (__cpuid_count(7, 0).edx >> bit) & 1 == 1)
                    && tiles_are_allowed()
            });
            has.then_some(Self(()))
        }

        pub(in super::super) fn avx512(self) -> HasAvx512 {
            HasAvx512(())
        }

        pub(in super::super) fn bf16(self) -> HasBf16 {
            HasBf16(())
        }
    }

    /// Asks for the tiles' registers, which are larger than what the kernel saves for a process that does not ask
    /// (`arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`, since Linux 5.16). It holds for all threads.
    #[cfg(target_os = "linux")]
    fn tiles_are_allowed() -> bool {
        const ARCH_PRCTL: i64 = 158;
        const ARCH_REQ_XCOMP_PERM: u64 = 0x1023;
        const XFEATURE_XTILEDATA: u64 = 18;
        let answer: i64;
        // SAFETY: the call takes two numbers, touches no memory, and overwrites the registers that are named.
        unsafe {
            asm!("syscall", inlateout("rax") ARCH_PRCTL => answer, in("rdi") ARCH_REQ_XCOMP_PERM,
                in("rsi") XFEATURE_XTILEDATA, lateout("rcx") _, lateout("r11") _, options(nostack));
        }
        answer == 0
    }

    /// Other systems have other ways to ask, which nobody has tried.
    #[cfg(not(target_os = "linux"))]
    fn tiles_are_allowed() -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_what_is_there_and_nothing_else() {
        for name in InstructionSet::NAMES {
            match InstructionSet::from_name(name) {
                Ok(set) => assert!(set.name() == name || ["auto", "neon"].contains(&name), "{name}: {set:?}"),
                Err(e) => {
                    assert!(InstructionSet::all().iter().all(|set| set.name() != name), "{name}: {e}");
                    assert!(e.to_string().contains(&format!("this machine has no {name}")), "{e}");
                }
            }
        }
        assert_eq!(InstructionSet::from_name("plain").unwrap().name(), "plain");
        let best = InstructionSet::all().last().unwrap().name();
        assert!(["", "auto"].iter().all(|name| InstructionSet::from_name(name).unwrap().name() == best));
        let unknown = InstructionSet::from_name("AVX3").unwrap_err().to_string();
        assert_eq!(unknown, "NESTLING_KERNELS is \"AVX3\"; it can be plain, avx2, avx512, amx, neon or auto");
    }
}
