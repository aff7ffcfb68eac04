//! What a project tells of itself: how good its models are and what more work would bring, what decisions cost, which
//! sentence comes next, and which gold is doubtful.

pub(super) mod agenda;
pub(super) mod anchoring;
pub(super) mod costs;
pub(super) mod curve;
pub(super) mod gold;
pub(super) mod look_again;
pub(super) mod ranking;
