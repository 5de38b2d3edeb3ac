//! Benchmarks of Spirula, under `benches/`. This library is empty.
