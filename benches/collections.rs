//! The list that a run shares with its forks, beside a persistent vector: grown with a fork every 64 items as a replay keeps
//! them, read at its end and in the middle.

use divan::{Bencher, black_box};
use rpds::VectorSync;
use rulestep_engine::monitor::collections::Blocks;

fn main() {
    divan::main();
}

const LENGTHS: [u64; 2] = [1_000, 100_000];
type Item = (u64, u32);

#[divan::bench(args = LENGTHS)]
fn grow_blocks(length: u64) -> usize {
    let (mut list, mut forks) = (Blocks::default(), Vec::new());
    for at in 0..length {
        if at % 64 == 0 {
            forks.push(list.clone());
            if forks.len() > 32 {
                forks.clear();
            }
        }
        list.push(black_box((at, 1u32)));
    }
    list.len()
}

#[divan::bench(args = LENGTHS)]
fn grow_rpds(length: u64) -> usize {
    let (mut list, mut forks) = (VectorSync::<Item>::new_sync(), Vec::new());
    for at in 0..length {
        if at % 64 == 0 {
            forks.push(list.clone());
            if forks.len() > 32 {
                forks.clear();
            }
        }
        list.push_back_mut(black_box((at, 1u32)));
    }
    list.len()
}

fn blocks(length: u64) -> Blocks<Item> {
    let mut list = Blocks::default();
    for at in 0..length {
        list.push((at, 1));
    }
    list
}

fn rpds(length: u64) -> VectorSync<Item> {
    (0..length).map(|at| (at, 1)).collect()
}

#[divan::bench(args = LENGTHS)]
fn search_blocks(bencher: Bencher, length: u64) {
    let list = blocks(length);
    bencher.bench_local(|| {
        (0..64).map(|n| list.partition_point(|item| item.0 < black_box(n * length / 64))).sum::<usize>()
    });
}

#[divan::bench(args = LENGTHS)]
fn search_rpds(bencher: Bencher, length: u64) {
    let list = rpds(length);
    bencher.bench_local(|| {
        (0..64)
            .map(|n| {
                let wanted = black_box(n * length / 64);
                let (mut low, mut high) = (0, list.len());
                while low < high {
                    let mid = (low + high) / 2;
                    if list.get(mid).is_some_and(|item| item.0 < wanted) { low = mid + 1 } else { high = mid }
                }
                low
            })
            .sum::<usize>()
    });
}

#[divan::bench(args = LENGTHS)]
fn iterate_blocks(bencher: Bencher, length: u64) {
    let list = blocks(length);
    bencher.bench_local(|| list.iter().map(|item| item.0).sum::<u64>());
}

#[divan::bench(args = LENGTHS)]
fn iterate_rpds(bencher: Bencher, length: u64) {
    let list = rpds(length);
    bencher.bench_local(|| list.iter().map(|item| item.0).sum::<u64>());
}
