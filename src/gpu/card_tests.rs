use super::Adapter;
use super::card::{Card, Kernel};

/// A card to test with, real or software; `None`, said aloud, where there is none.
pub(super) fn test_card() -> Option<Card> {
    let adapter = Adapter::all().into_iter().next();
    if adapter.is_none() {
        eprintln!("no graphics card and no software one: install mesa-vulkan-drivers to run this test");
    }
    adapter.map(|adapter| adapter.open().unwrap())
}

const DOUBLE: &str = "
@group(0) @binding(0) var<uniform> count: u32;
@group(0) @binding(1) var<storage, read_write> values: array<u32>;
@compute @workgroup_size(64)
fn double(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < count) { values[id.x] *= 2u; }
}";

#[test]
fn kernels_see_what_those_before_them_wrote() {
    let Some(card) = test_card() else { return };
    let kernel = Kernel { source: DOUBLE, entry: "double" };
    let (values, other) = (card.upload(&[1_u32, 2, 3]), card.upload(&[7_u32]));
    let mut commands = card.commands();
    for _ in 0..3 {
        commands.run(kernel, [1, 1, 1], &3_u32, &[&values]);
    }
    assert_eq!(commands.read(&[&values, &other]).unwrap(), [vec![8, 16, 24], vec![7]]);
}

#[test]
fn a_device_that_is_lost_and_a_kernel_that_is_refused_are_failures_and_no_panic() {
    let Some(card) = test_card() else { return };
    let values = card.upload(&[1_u32, 2, 3]);
    card.lose();
    let mut commands = card.commands();
    commands.run(Kernel { source: DOUBLE, entry: "double" }, [1, 1, 1], &3_u32, &[&values]);
    assert!(commands.read(&[&values]).is_err());
    assert!(card.commands().read(&[&values]).is_err(), "and it stays so");

    let Some(card) = test_card() else { return };
    let mut commands = card.commands();
    let values = card.upload(&[1_u32]);
    commands.run(Kernel { source: "fn nonsense(", entry: "double" }, [1, 1, 1], &1_u32, &[&values]);
    assert!(commands.read(&[&values]).unwrap_err().to_string().contains("pars"));
}

#[test]
fn more_memory_than_there_is_is_a_failure_and_no_panic() {
    let Some(card) = test_card() else { return };
    let huge = card.array(card.longest_array().saturating_mul(64));
    assert!(card.commands().read(&[&huge]).is_err());
}
